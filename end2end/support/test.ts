import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test as base } from '@playwright/test';
import { Server } from './server.ts';

type Fixtures = {
    server: Server;
    /** Milliseconds between two words of the demo agent. */
    pace: number;
    /** What signs in, where the server asks for it. */
    token: string;
    /** What a test expects to see in the console, such as a lost connection. */
    allowedInConsole: RegExp;
};

/**
 * Every test has a server of its own, and fails on any warning or error in the console:
 * a hydration mismatch is one.
 */
export const test = base.extend<Fixtures>({
    pace: [5, { option: true }],
    token: ['', { option: true }],
    server: async ({ pace, token }, use) => {
        const server = new Server(pace, token);
        await server.start();
        await use(server);
        await server.remove();
    },
    baseURL: async ({ server }, use) => use(server.base),
    allowedInConsole: [/^$/, { option: true }],
    page: async ({ page, allowedInConsole }, use) => {
        const heard: string[] = [];
        page.on('console', (message) => {
            if (['warning', 'error'].includes(message.type())) heard.push(message.text());
        });
        page.on('pageerror', (error) => heard.push(error.message));
        await use(page);
        const expected = [allowedInConsole, /^Service Worker registration blocked by Playwright$/];
        const unexpected = heard.filter((text) => !expected.some((it) => it.test(text)));
        expect(unexpected, 'the console is clean').toEqual([]);
    },
});

export { expect };

/** Opens an address and waits until the page is alive. */
export async function open(page: Page, path: string): Promise<void> {
    await page.goto(path);
    await alive(page);
}

export async function alive(page: Page): Promise<void> {
    await page.locator('html[data-hydrated]').waitFor({ state: 'attached' });
}

/** Signs in where the page asks for it. */
export async function signIn(page: Page, token: string): Promise<void> {
    await page.getByLabel('Password').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await alive(page);
}

/** Sends a prompt as a browser without script does. */
export async function sendPlainly(page: Page, text: string): Promise<void> {
    await page.locator('form.composer').evaluate((form: HTMLFormElement, text) => {
        (form.querySelector('textarea') as HTMLTextAreaElement).value = text;
        form.submit();
    }, text);
}

export async function newConversation(page: Page): Promise<void> {
    await open(page, '/');
    await page.getByRole('button', { name: 'New conversation', exact: true }).click();
    await page.waitForURL(/\/session\/\w+$/);
    await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
}

export async function send(page: Page, text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
}

export function answer(page: Page) {
    return page.getByRole('article', { name: 'Agent' }).last();
}

/** Looks for accessibility findings in both themes. */
export async function audit(page: Page): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
        // Colours that are still on their way from one theme to the other would be looked at.
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const { violations } = await new AxeBuilder({ page }).analyze();
        const found = violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.target).join(', ')}`);
        expect(found, `axe, ${colorScheme}`).toEqual([]);
    }
}
