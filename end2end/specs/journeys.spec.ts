import type { BrowserContext, Page } from '@playwright/test';
import { list, more, row, view } from '../support/list.ts';
import type { Server } from '../support/server.ts';
import { alive, answer, expect, send, signIn, test } from '../support/test.ts';

// What people do every day, each with something in the middle of it that must not matter.
test.use({
    token: 'a-token-for-this-test',
    allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)|ERR_INTERNET_DISCONNECTED/,
});

/** Yields where it is interrupted. */
type Journey = (page: Page, server: Server, open: (path: string) => Promise<void>) => AsyncGenerator<void>;

const message = (page: Page) => page.getByRole('textbox', { name: 'Message' });

/** Waits until nothing runs, and counts what is stored. */
async function stored(server: Server, id: string, count: number): Promise<void> {
    await expect.poll(async () => (await server.json(`/api/sessions/${id}`)).turn_id).toBeNull();
    expect((await server.json(`/api/sessions/${id}`)).messages).toHaveLength(count);
}

const journeys: Record<string, Journey> = {
    async *'writing a message'(page, server, open) {
        const id = await server.newSession();
        await open(`/session/${id}`);
        await message(page).fill('[[say Understood.]] and half a thought');
        yield;
        await expect(message(page)).toHaveValue('[[say Understood.]] and half a thought');
        await page.getByRole('button', { name: 'Send' }).click();
        await expect(answer(page)).toContainText('Understood.');
        await expect(message(page)).toHaveValue('');
        await stored(server, id, 2);
    },
    async *'reading an answer as it comes'(page, server, open) {
        const id = await server.newSession();
        await open(`/session/${id}`);
        await send(page, '[[slow 60 50]] [[say The end.]]');
        await expect(answer(page)).toContainText('word3');
        yield;
        await expect(answer(page)).toContainText('word60');
        await expect(answer(page)).toContainText('The end.');
        await expect(page.getByRole('article')).toHaveCount(2);
        await stored(server, id, 2);
    },
    async *'answering a question'(page, server, open) {
        const id = await server.newSession();
        await open(`/session/${id}`);
        await send(page, '[[ask Tea or coffee? | Tea | Coffee]]');
        const question = page.getByRole('region', { name: 'Question' });
        await expect(question).toContainText('Tea or coffee?');
        yield;
        await question.getByRole('button', { name: 'Coffee' }).click();
        await expect(question.getByRole('button')).toHaveCount(0);
        await stored(server, id, 2);
    },
    async *'sending one message after another'(page, server, open) {
        const id = await server.newSession();
        await open(`/session/${id}`);
        await send(page, '[[slow 60 50]]');
        await expect(answer(page)).toContainText('word2');
        await send(page, '[[say The second.]]');
        await expect(page.getByText('Queued', { exact: true })).toBeVisible();
        yield;
        await expect(answer(page)).toContainText('The second.');
        await expect(page.getByText('Queued', { exact: true })).toBeHidden();
        await expect(page.getByRole('article')).toHaveCount(4);
        await stored(server, id, 4);
    },
    async *'starting a conversation'(page, _server, open) {
        await open('/new');
        yield;
        await page.getByRole('main').getByRole('button', { name: 'Start' }).click();
        await page.waitForURL(/\/session\/\w+$/);
        await send(page, '[[say Hello.]]');
        await expect(answer(page)).toContainText('Hello.');
    },
    async *'putting a conversation away'(page, server, open) {
        const id = await server.newSession();
        await server.converse(id, '[[say Done with it]]');
        await open('/');
        await (await more(page, id)).getByRole('button', { name: 'Archive' }).click();
        await expect(row(page, id)).toHaveCount(0);
        yield;
        await expect(row(page, id)).toHaveCount(0);
        await view(page, 'Archived').click();
        await (await more(page, id)).getByRole('button', { name: 'Take out of the archive' }).click();
        await expect(list(page)).toContainText('Nothing is archived.');
        await view(page, 'Current').click();
        await expect(row(page, id)).toBeVisible();
    },
    async *'finding what was said'(page, server, open) {
        const id = await server.newSession();
        await server.converse(id, '[[say A needle in the hay]]');
        await server.converse(await server.newSession(), '[[say Only hay]]');
        await open('/');
        const field = page.getByRole('searchbox');
        const found = list(page).locator('.row.found');
        await field.fill('needle');
        await expect(found).toHaveCount(1);
        yield;
        // What was typed is not kept over a reload.
        await field.fill('needle');
        await found.click();
        await expect(page).toHaveURL(new RegExp(`/session/${id}`));
        await expect(answer(page)).toContainText('A needle in the hay');
    },
    async *'reading an earlier part'(page, server, open) {
        const id = await server.newSession();
        await server.converse(id, '[[say Long ago]]');
        const { continuation } = await server.converse(id, '[[compress]]');
        await open(`/archive/${id}`);
        await expect(page.getByRole('main')).toContainText('Long ago');
        yield;
        await expect(page).toHaveURL(`/archive/${id}`);
        await expect(page.getByRole('main')).toContainText('Long ago');
        await page.goto(`/session/${id}`);
        await expect(page).toHaveURL(`/session/${continuation}`);
    },
};

type Interruption = (page: Page, context: BrowserContext, token: string) => Promise<void>;

const interruptions: Record<string, Interruption> = {
    async 'a reload'(page) {
        await page.reload();
        await alive(page);
    },
    async 'an offline spell'(page, context) {
        const offline = page.getByRole('status').filter({ hasText: 'Offline' });
        await context.setOffline(true);
        await expect(offline).toBeVisible();
        await context.setOffline(false);
        await expect(offline).toBeHidden();
    },
    async 'a login'(page, context, token) {
        const address = page.url();
        await context.clearCookies();
        await page.reload();
        await signIn(page, token);
        await expect(page).toHaveURL(address);
    },
};

for (const [doing, journey] of Object.entries(journeys)) {
    for (const [what, interrupt] of Object.entries(interruptions)) {
        test(`${doing}, with ${what} in the middle`, async ({ page, server, context, token }) => {
            const open = async (path: string) => {
                await page.goto(path);
                await signIn(page, token);
                await expect(page).toHaveURL(path);
            };
            for await (const _ of journey(page, server, open)) {
                await interrupt(page, context, token);
            }
        });
    }
}
