import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { alive, answer, audit, expect, open, send, test } from '../support/test.ts';

test('agent and folder can be chosen, and are chosen again the next time', async ({ page, server }) => {
    mkdirSync(join(server.folder, 'workspace', 'garden', 'roses'), { recursive: true });
    await open(page, '/');
    await page.getByRole('link', { name: 'Choose agent and folder' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('New conversation');
    await expect(page.getByRole('radio', { name: /Demo/ })).toBeChecked();
    const folder = page.getByRole('combobox', { name: 'Folder' });
    await folder.fill('gar');
    await expect(page.locator('#folders option[value$="/workspace/garden"]')).toHaveCount(1);
    await folder.fill('garden/roses');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/session\/\w+$/);
    await send(page, '[[say A rose.]]');
    await expect(answer(page)).toContainText('A rose.');

    await open(page, '/new');
    await expect(page.getByRole('combobox', { name: 'Folder' })).toHaveValue(/\/garden\/roses$/);
    await page.goto('/');
    await alive(page);
    const sessions = await server.json('/api/sessions');
    expect(sessions.sessions[0].workspace).toMatch(/\/garden\/roses$/);
});

test('an agent that is not there says what is missing', async ({ page }) => {
    await open(page, '/new');
    const missing = page.getByRole('radio', { name: /not found/ }).first();
    if (await missing.count()) await expect(missing).toBeDisabled();
    await audit(page);
});

test.describe('a folder outside the allowed ones', () => {
    // The browser itself reports the status 422.
    test.use({ allowedInConsole: /Failed to (load resource|fetch)/ });

    test('is refused in plain words', async ({ page }) => {
        await open(page, '/new');
        await page.getByRole('combobox', { name: 'Folder' }).fill('/etc');
        await page.getByRole('button', { name: 'Start' }).click();
        await expect(page.getByText('outside the allowed folders')).toBeVisible();
        await expect(page).toHaveURL(/\/new$/);
    });
});

test.describe('without script', () => {
    test.use({ javaScriptEnabled: false, allowedInConsole: /was preloaded using link preload/ });

    test('agent and folder can be chosen too', async ({ page, server }) => {
        mkdirSync(join(server.folder, 'workspace', 'garden'), { recursive: true });
        await page.goto('/new');
        await page.locator('input[name=workspace]').fill('garden');
        await page.getByRole('button', { name: 'Start' }).click();
        await expect(page).toHaveURL(/\/session\/\w+$/);
        const sessions = await server.json('/api/sessions');
        expect(sessions.sessions[0].workspace).toMatch(/\/garden$/);
        await page.goto('/new');
        await page.locator('input[name=workspace]').fill('/etc');
        await page.getByRole('button', { name: 'Start' }).click();
        await expect(page.getByText('cannot be used')).toBeVisible();
    });
});
