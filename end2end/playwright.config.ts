import { defineConfig, devices } from '@playwright/test';

const launchOptions = {
    executablePath: process.env.CHROMIUM,
    args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
    ],
};

const phone = { ...devices['Pixel 7'], launchOptions };
const desktop = { ...devices['Desktop Chrome'], viewport: { width: 1280, height: 800 }, launchOptions };
const withoutScript = /without-script\.spec\.ts/;

export default defineConfig({
    testDir: './specs',
    timeout: 60_000,
    expect: { timeout: 10_000 },
    workers: 2,
    fullyParallel: true,
    forbidOnly: !!process.env.CI,
    retries: 0,
    reporter: [['list']],
    // What a service worker fetches cannot be held up or failed on purpose; its own tests let it in.
    use: { trace: 'retain-on-failure', serviceWorkers: 'block' },
    projects: [
        { name: 'phone', use: phone, testIgnore: withoutScript },
        { name: 'desktop', use: desktop, testIgnore: withoutScript },
        { name: 'phone, no script', use: { ...phone, javaScriptEnabled: false }, testMatch: withoutScript },
        { name: 'desktop, no script', use: { ...desktop, javaScriptEnabled: false }, testMatch: withoutScript },
    ],
});
