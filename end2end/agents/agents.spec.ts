import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { Server } from '../support/server.ts';
import { alive, answer, open, send } from '../support/test.ts';
import { type Known, known, names } from './known.ts';
import { Model } from './model.ts';

const sheet = (page: Page) => page.locator('summary.button', { hasText: 'Agent' });

for (const name of names()) {
    test.describe(name, () => {
        const model = new Model();
        let server: Server;
        let agent: Known;
        let conversation = '';

        test.beforeAll(async () => {
            await model.start();
            server = new Server(5);
            server.agent = name;
            // What the agent keeps goes with the server.
            const home = join(server.folder, 'home');
            agent = known(model.base, home).find((it) => it.id === name) as Known;
            const environment = Object.entries(agent.environment).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
            const text = [`[agents.${name}]`, ...agent.lines, `environment = { ${environment.join(', ')} }`, ''].join('\n');
            const file = join(home, `${name}.toml`);
            writeFileSync(file, text);
            server.config = file;
            await server.start();
        });

        test.afterAll(async () => {
            await server.remove();
            model.stop();
        });

        const begin = async (page: Page): Promise<string> => {
            const id = await server.newSession();
            await open(page, `${server.base}/session/${id}`);
            return id;
        };

        /** Goes on with the conversation; after a failure everything begins anew, and so does it. */
        const go = async (page: Page): Promise<void> => {
            if (!conversation) {
                conversation = await server.newSession();
                await server.converse(conversation, '[[say Good morning.]]');
            }
            await open(page, `${server.base}/session/${conversation}`);
        };

        test('prompt', async ({ page }) => {
            conversation = await begin(page);
            await send(page, '[[say Good morning to you.]]');
            await expect(answer(page)).toContainText('Good morning to you.');
            await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
        });

        test('tool with permission', async ({ page }) => {
            await go(page);
            if (agent.choose) {
                await sheet(page).click();
                const option = page.locator('option', { hasText: new RegExp(`^${agent.choose}$`) });
                await page.locator('.agent-option select', { has: option }).selectOption({ label: agent.choose });
                await sheet(page).click();
            }
            await send(page, agent.command('touch made-by-agent.txt && echo made-it'));
            const allow = page.getByRole('button', { name: /allow once|^yes|^allow|approve/i }).first();
            await allow.click();
            await expect(answer(page)).toContainText('It gave:');
            await expect(answer(page)).toContainText('made-it');
        });

        test('cancel', async ({ page }) => {
            await go(page);
            await send(page, '[[slow]]');
            await expect(answer(page)).toContainText('word3');
            await page.getByRole('button', { name: 'Stop' }).click();
            await expect(answer(page)).toContainText('Stopped by you');
        });

        test('second session in parallel', async ({ page, context }) => {
            await go(page);
            await send(page, '[[slow]]');
            await expect(answer(page)).toContainText('word1');
            const other = await context.newPage();
            await begin(other);
            await send(other, '[[say I am the other one.]]');
            await expect(answer(other)).toContainText('I am the other one.');
            await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
            await page.getByRole('button', { name: 'Stop' }).click();
            await expect(answer(page)).toContainText('Stopped by you');
        });

        test('restart and resume', async ({ page }) => {
            await go(page);
            await server.stop();
            await server.start();
            await go(page);
            await alive(page);
            await send(page, '[[say Here I am again.]]');
            await expect(answer(page)).toContainText('Here I am again.');
            await expect(page.getByText('no longer remembered')).toHaveCount(0);
        });

        test('import', async ({ page }) => {
            await go(page);
            // Forgotten here, it is still remembered by the agent.
            await fetch(`${server.base}/api/sessions/${conversation}`, { method: 'DELETE' });
            await open(page, `${server.base}/new`);
            await page.getByRole('button', { name: 'Look for earlier conversations' }).click();
            await page.locator('.remembered-list button:not(:has(.badge))').first().click();
            await page.waitForURL(/\/session\/\w+$/, { timeout: 90_000 });
            await alive(page);
            conversation = new URL(page.url()).pathname.split('/').pop() as string;
            await expect(page.getByRole('article', { name: 'Agent' }).first()).toContainText('Good morning');
            await send(page, '[[say On we go.]]');
            await expect(answer(page)).toContainText('On we go.');
        });

        test('compaction', async ({ page }) => {
            await go(page);
            await sheet(page).click();
            await page.getByRole('button', { name: 'Compress the conversation' }).click();
            await page.waitForURL((url) => !url.pathname.endsWith(conversation), { timeout: 90_000 });
            await alive(page);
            await send(page, '[[say We went on.]]');
            await expect(answer(page)).toContainText('We went on.');
        });
    });
}
