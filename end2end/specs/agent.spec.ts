import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server } from '../support/server.ts';
import { answer, audit, expect, open, send, test as base } from '../support/test.ts';

/** A server whose agent offers options and commands. */
const test = base.extend({
    server: async ({ pace }, use) => {
        const server = new Server(pace);
        server.agent = 'small';
        server.config = join(server.folder, 'agents.toml');
        const script = join(import.meta.dirname, '..', 'support', 'agent.mjs');
        writeFileSync(server.config, `[agents.small]\ncommand = "node"\narguments = [${JSON.stringify(script)}]\n`);
        await server.start();
        await use(server);
        await server.remove();
    },
});

test('what can be chosen about an agent is chosen in its sheet', async ({ page, server }) => {
    await open(page, `/session/${await server.newSession()}`);
    await send(page, 'one');
    await expect(answer(page)).toContainText('In careful mode: one');
    await page.locator('summary.button', { hasText: 'Agent' }).click();
    const mode = page.getByRole('combobox', { name: 'Mode' });
    await expect(mode).toHaveValue('careful');
    await audit(page);
    await mode.selectOption('Bold');
    await page.locator('summary.button', { hasText: 'Agent' }).click();
    await send(page, 'two');
    await expect(answer(page)).toContainText('In bold mode: two');
});

test.describe('before the first message', () => {
    // The server is gone for a moment.
    test.use({ allowedInConsole: /Failed to (load resource|fetch)|WebSocket connection/ });

    test('and after a restart, an agent says what can be chosen about it', async ({ page, server }) => {
        const id = await server.newSession();
        await open(page, `/session/${id}`);
        const sheet = page.locator('summary.button', { hasText: 'Agent' });
        const mode = page.getByRole('combobox', { name: 'Mode' });
        await sheet.click();
        await expect(mode).toHaveValue('careful');
        await mode.selectOption('Bold');
        await sheet.click();
        await send(page, 'one');
        await expect(answer(page)).toContainText('In bold mode: one');
        await server.stop();
        await server.start();
        await open(page, `/session/${id}`);
        await sheet.click();
        await expect(mode).toHaveValue('bold');
    });
});

test('the agent\'s commands are offered while one is typed', async ({ page, server }) => {
    await open(page, `/session/${await server.newSession()}`);
    await send(page, 'hello');
    await expect(answer(page)).toContainText('hello');
    const field = page.getByRole('textbox', { name: 'Message' });
    const list = page.getByRole('listbox', { name: 'Commands' });
    await field.pressSequentially('/');
    await expect(list.getByRole('option')).toHaveCount(2);
    await audit(page);
    await field.press('ArrowDown');
    await expect(list.getByRole('option', { selected: true })).toContainText('/review');
    await field.press('Escape');
    await expect(list).toBeHidden();
    await field.fill('');
    await field.pressSequentially('/co');
    await list.getByRole('option', { name: /compact/ }).click();
    await expect(field).toHaveValue('/compact ');
    await expect(field).toBeFocused();
    await field.fill('');
    await field.pressSequentially('/re');
    await expect(list.getByRole('option')).toHaveCount(1);
    await field.press('Enter');
    await expect(field).toHaveValue('/review ');
});

test('a conversation that the agent had elsewhere is brought in once and goes on', async ({ page, server }) => {
    await open(page, '/new');
    await page.getByRole('button', { name: 'Look for earlier conversations' }).click();
    const shed = page.getByRole('button', { name: 'Paint the shed' });
    await expect(shed).toBeVisible();
    await audit(page);
    await shed.click();
    await page.waitForURL(/\/session\/\w+$/);
    const address = page.url();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Paint the shed');
    await expect(page.getByRole('article', { name: 'You', exact: true })).toContainText('Which colour for the shed?');
    await expect(answer(page).locator('strong')).toHaveText('door');
    await send(page, 'Green it is');
    await expect(answer(page)).toContainText('In careful mode: Green it is');
    await page.reload();
    await expect(page.getByRole('article', { name: 'Agent' })).toHaveCount(2);

    await open(page, '/new');
    await page.getByRole('button', { name: 'Look for earlier conversations' }).click();
    await expect(shed).toContainText('Here already');
    await shed.click();
    await expect(page).toHaveURL(address);
    expect((await server.json('/api/sessions')).sessions).toHaveLength(1);
});

test.describe('an agent that remembers nothing', () => {
    // The browser itself reports the status 503.
    test.use({ allowedInConsole: /Failed to load resource/ });

    test('says so, and another one can be asked at once', async ({ page }) => {
        await open(page, '/new');
        await page.getByRole('radio', { name: /Demo/ }).check();
        await page.getByRole('button', { name: 'Look for earlier conversations' }).click();
        await expect(page.getByRole('alert')).toContainText('keeps no conversations of its own');
        await page.getByRole('radio', { name: /small/ }).check();
        await page.getByRole('button', { name: 'Look for earlier conversations' }).click();
        await expect(page.getByRole('button', { name: 'Paint the shed' })).toBeVisible();
    });
});
