import { defineConfig, devices } from '@playwright/test';
import base from './playwright.config.ts';

const [{ use: { launchOptions } = {} } = {}] = base.projects ?? [];
const common = { launchOptions, serviceWorkers: 'block' as const, reducedMotion: 'reduce' as const };

/** Makes the pictures that people look at: `npx playwright test --config pictures.config.ts`. */
export default defineConfig({
    ...base,
    testDir: './pictures',
    timeout: 300_000,
    workers: 1,
    use: { trace: 'off' },
    projects: [
        { name: 'phone', use: { ...devices['Pixel 7'], ...common, deviceScaleFactor: 1 } },
        { name: 'tablet', use: { ...common, viewport: { width: 820, height: 1100 }, hasTouch: true } },
        { name: 'desktop', use: { ...common, viewport: { width: 1280, height: 800 } } },
    ],
});
