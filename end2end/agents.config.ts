import { defineConfig } from '@playwright/test';
import common from './playwright.config.ts';

/** Real agents, one after the other: `cargo xtask agents` installs them and runs this. */
export default defineConfig({
    ...common,
    testDir: './agents',
    timeout: 180_000,
    expect: { timeout: 60_000 },
    workers: 1,
    fullyParallel: false,
    reporter: [['./agents/table.ts']],
    projects: common.projects?.filter((project) => project.name === 'desktop'),
});
