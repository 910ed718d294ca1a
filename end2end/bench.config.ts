import { defineConfig } from '@playwright/test';
import base from './playwright.config.ts';

/** What is measured in a browser: run by `cargo xtask bench browser`, never with the tests. */
export default defineConfig({
    ...base,
    testDir: './benches',
    timeout: 900_000,
    workers: 1,
    use: { trace: 'off' },
    projects: base.projects?.filter(({ name }) => name === 'phone'),
});
