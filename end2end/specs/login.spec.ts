import type { Page } from '@playwright/test';
import { answer, audit, expect, send, signIn, test } from '../support/test.ts';

// The socket and the functions of a page whose device was signed out are refused with 401.
test.use({
    token: 'a-token-for-this-test',
    allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/,
});

async function openSignedIn(page: Page, path: string, token: string): Promise<void> {
    await page.goto(path);
    await signIn(page, token);
}

test('a device signed out in the middle loses nothing, and sends what waited once', async ({ page, server, token, browser }) => {
    const id = await server.newSession();
    await openSignedIn(page, `/session/${id}`, token);
    await expect(page).toHaveURL(`/session/${id}`);
    await send(page, '[[say The first answer]]');
    await expect(answer(page)).toContainText('The first answer');

    // From another device.
    const other = await browser.newContext({ baseURL: server.base, serviceWorkers: 'block' });
    const settings = await other.newPage();
    await openSignedIn(settings, '/settings', token);
    const devices = settings.getByRole('heading', { name: 'Signed-in devices' });
    await expect(devices).toBeVisible();
    await audit(settings);
    const elsewhere = settings.getByRole('listitem').filter({ hasText: 'Last seen' });
    await expect(elsewhere).toHaveCount(1);
    await elsewhere.getByRole('button', { name: /^Sign out/ }).click();
    await expect(elsewhere).toHaveCount(0);
    await other.close();

    const strip = page.getByRole('status').filter({ hasText: 'You are signed out.' });
    await expect(strip).toBeVisible();
    await send(page, '[[say The second answer]]');
    await page.getByRole('textbox', { name: 'Message' }).fill('Half a thought');
    await audit(page);
    await strip.getByRole('link', { name: 'Sign in again' }).click();
    await signIn(page, token);
    await expect(page).toHaveURL(`/session/${id}`);
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Half a thought');
    await expect(answer(page)).toContainText('The second answer');
    await expect.poll(async () => (await server.json(`/api/sessions/${id}`)).messages.length).toBe(4);
});

test('signing out leads to the page to sign in', async ({ page, server, token }) => {
    await openSignedIn(page, '/settings', token);
    await page.getByRole('button', { name: /^Sign out/ }).click();
    await expect(page).toHaveURL('/login');
    await page.goto('/');
    await expect(page).toHaveURL('/login');
});
