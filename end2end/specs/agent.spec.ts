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
