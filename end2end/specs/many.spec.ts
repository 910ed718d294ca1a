import type { Page } from '@playwright/test';
import type { Server } from '../support/server.ts';
import { alive, answer, audit, expect, newConversation, open, send, test } from '../support/test.ts';

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const row = (page: Page, id: string) => page.locator(`.row[href="/session/${id}"]`);

async function sessions(server: Server, count: number): Promise<string[]> {
    const ids = [];
    for (let made = 0; made < count; made += 1) ids.push(await server.newSession());
    return ids;
}

/** Makes an agent stream a word that no other conversation has. */
const say = (place: number) => `[[say ${`word${place} `.repeat(40)}]]`;

/** Goes to a conversation as a person does: on a phone by way of the list. */
async function visit(page: Page, id: string): Promise<void> {
    const oneAtATime = (page.viewportSize()?.width ?? 0) < 896;
    if (oneAtATime && new URL(page.url()).pathname !== '/') {
        await page.getByRole('link', { name: 'All conversations' }).click();
        await expect(page).toHaveURL(/\/$/);
    }
    await row(page, id).click();
    await expect(page).toHaveURL(new RegExp(`/session/${id}$`));
}

/** Watches everything that reaches the page, and every text of the page, for words of others. */
function listen(page: Page): { frames: any[] } {
    const heard = { frames: [] as any[] };
    page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => heard.frames.push(JSON.parse(String(payload)))));
    return heard;
}

/** Makes an agent stream for longer than any test takes. */
const stream = '[[slow 100000 100]]';

for (const streaming of [0, 25]) {
    test(`gate 1: five conversations, their drafts and the focus come back after a reload, with ${streaming} streaming`, async ({ page, server }) => {
        // Without a graphics card, dots that breathe in 25 rows leave a small machine little else.
        await page.emulateMedia({ reducedMotion: 'reduce' });
        const all = await sessions(server, Math.max(streaming, 5));
        await Promise.all(all.slice(0, streaming).map((id) => server.prompt(id, stream)));
        const ids = all.slice(0, 5);
        await open(page, '/');
        for (const [place, id] of ids.entries()) {
            await visit(page, id);
            await composer(page).fill(`draft ${place}`);
        }
        await visit(page, ids[2]);
        await page.reload();
        await alive(page);
        await expect(page).toHaveURL(new RegExp(`/session/${ids[2]}$`));
        const restored = JSON.parse(await page.evaluate(() => localStorage.getItem('throughline.restore') ?? '{}'));
        expect([...restored.activeSessionIds].sort()).toEqual([...ids].sort());
        for (const [place, id] of ids.entries()) {
            await visit(page, id);
            await expect(composer(page)).toHaveValue(`draft ${place}`);
            await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible({ visible: streaming > 0 });
        }
        // The root leads back to where the reader was.
        await page.goto('/');
        await expect(page).toHaveURL(new RegExp(`/session/${ids[4]}$`));
    });
}

for (const others of [1, 24]) {
    test(`gate 2: ${others + 1} conversations at once, and no word of one in another`, async ({ page, server }) => {
        const heard = listen(page);
        const ids = await sessions(server, others + 1);
        await open(page, `/session/${ids[0]}`);
        await send(page, say(0));
        await Promise.all(ids.slice(1).map((id, place) => server.prompt(id, say(place + 1))));
        await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: 20_000 });
        for (const [place, id] of ids.entries()) {
            await expect.poll(async () => (await server.json(`/api/sessions/${id}`)).turn_id).toBe(null);
            const text = JSON.stringify((await server.json(`/api/sessions/${id}`)).messages);
            expect(new Set(text.match(/word\d+/g))).toEqual(new Set([`word${place}`]));
        }
        const transcript = await page.getByRole('log').innerText();
        expect(new Set(transcript.match(/word\d+/g))).toEqual(new Set(['word0']));
        // Deltas of what is not looked at do not even reach the page.
        const events = heard.frames.filter((frame) => frame.type === 'rpc_event');
        expect(new Set(events.map((frame) => frame.session_id))).toEqual(new Set([ids[0]]));
        await visit(page, ids[1]);
        await expect(answer(page)).toContainText('word1');
    });
}

for (const others of [0, 23]) {
    test(`gate 3: what runs in the background with ${others} others earns a badge, and is right when it is looked at again`, async ({ page, server }) => {
        const [first, second, ...crowd] = await sessions(server, others + 2);
        await Promise.all(crowd.map((id) => server.prompt(id, stream)));
        await open(page, '/');
        await visit(page, first);
        // Long enough that B is in view before A ends, on any machine.
        await send(page, '[[slow 150 40]][[say The end of A.]]');
        await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
        await visit(page, second);
        if (others > 0) await server.prompt(second, stream);
        await expect(row(page, first).locator('.badge')).toHaveText('New', { timeout: 20_000 });
        await expect(page.getByRole('log')).not.toContainText('The end of A.');
        await visit(page, first);
        await expect(answer(page)).toContainText('The end of A.');
        await expect(row(page, first).locator('.badge')).toHaveCount(0);
        const stored = await server.json(`/api/sessions/${first}`);
        expect(await page.getByRole('article').count()).toBe(stored.messages.length);
        expect((await answer(page).innerText()).match(/word\d+/g)).toEqual(JSON.stringify(stored.messages[1]).match(/word\d+/g));
    });
}

test('a question in the background says that it waits, survives a reload and is answered once', async ({ page, server, context }) => {
    const [asking, other] = await sessions(server, 2);
    await open(page, `/session/${other}`);
    await server.prompt(asking, '[[ask Which way? | Left | Right]]');
    await expect(row(page, asking)).toContainText('Waiting for you');
    await page.reload();
    await alive(page);
    await expect(row(page, asking)).toContainText('Waiting for you');
    await visit(page, asking);
    const second = await context.newPage();
    await open(second, `/session/${asking}`);
    await page.getByRole('button', { name: 'Left' }).click();
    await expect(answer(second)).toContainText('Left');
    await expect(second.getByRole('button', { name: 'Right' })).toBeHidden();
    await expect(row(page, asking)).not.toContainText('Waiting for you');
});

test('frames that are malformed, foreign or already known change nothing on the page', async ({ page, server }) => {
    let inject = (_: string) => {};
    const seen: any[] = [];
    await page.routeWebSocket(/\/ws$/, (socket) => {
        const upstream = socket.connectToServer();
        upstream.onMessage((message) => {
            seen.push(JSON.parse(String(message)));
            socket.send(message);
        });
        inject = (text) => socket.send(text);
    });
    const [id, other] = await sessions(server, 2);
    await open(page, `/session/${id}`);
    await send(page, '[[say What stands here stays.]]');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
    await expect(answer(page)).toContainText('What stands here stays.');
    const delta = seen.find((frame) => frame.event?.type === 'message_delta');
    const next = seen.findLast((frame) => frame.type === 'rpc_event').seq + 1;
    const wrong = { ...delta.event, text: 'not for here' };
    const foreign = [
        '', 'nonsense', '[]', '{}', 'null', '{"type":"rpc_event"}', '{"type":"unheard_of","session_id":"x"}',
        JSON.stringify({ ...delta, event: wrong, session_id: undefined, seq: next }),
        JSON.stringify({ ...delta, event: wrong, session_id: other, seq: next }),
        JSON.stringify({ ...delta, event: wrong, session_id: 'nobody', seq: next }),
        JSON.stringify({ ...delta, event: wrong }),
        JSON.stringify({ ...delta, event: { type: 'unheard_of' }, seq: next }),
        JSON.stringify({ type: 'rpc_response', session_id: id, command_id: 'never-sent', ok: true }),
        JSON.stringify({ type: 'rpc_replay_gap', session_id: other, epoch: delta.epoch, oldest_seq: 1, latest_seq: 2 }),
    ];
    for (const text of foreign) inject(text);
    // What follows is applied as if nothing had been in between.
    await server.converse(id, '[[say And it goes on.]]');
    await expect(answer(page)).toContainText('And it goes on.');
    await expect(page.getByText('not for here')).toHaveCount(0);
    expect(await page.getByRole('article').count()).toBe(4);
});

test.describe('a server that restarts', () => {
    test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/ });

    test('still asks what it asked before, and takes one answer', async ({ page, server, context }) => {
        const [asking, other] = await sessions(server, 2);
        await open(page, `/session/${other}`);
        await server.prompt(asking, '[[ask Which way? | Left | Right]][[say And on we go.]]');
        await expect(row(page, asking)).toContainText('Waiting for you');
        await server.kill();
        await server.start();
        await page.evaluate(() => window.dispatchEvent(new Event('online')));
        await expect(row(page, asking)).toContainText('Waiting for you');
        await visit(page, asking);
        await expect(answer(page)).toContainText('Your answer lets the agent go on.');
        await audit(page);
        const second = await context.newPage();
        await open(second, `/session/${asking}`);
        const buttons = [page.getByRole('button', { name: 'Left' }), second.getByRole('button', { name: 'Right' })];
        for (const button of buttons) await expect(button).toBeVisible();
        // Held fast, because the quicker of the two takes the other's button away.
        const held = await Promise.all(buttons.map((button) => button.elementHandle()));
        await Promise.all(held.map((button) => button?.evaluate((it: HTMLElement) => it.click())));
        for (const tab of [page, second]) {
            await expect(answer(tab)).toContainText('And on we go.');
            await expect(tab.getByRole('button', { name: /Left|Right/ })).toHaveCount(0);
            await expect(row(tab, asking)).not.toContainText('Waiting for you');
        }
        const { messages } = await server.json(`/api/sessions/${asking}`);
        expect(messages.map((message: any) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    });
});

test('a prompt sent during a turn is queued, and can be edited or removed', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[hang]]');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
    await send(page, '[[say first in line]]');
    await send(page, 'to be removed');
    await send(page, 'to be edited');
    await expect(page.getByText('Queued')).toHaveCount(3);
    await audit(page);
    const waiting = (text: string) => page.getByRole('article', { name: 'You' }).filter({ hasText: text });
    await waiting('to be removed').getByRole('button', { name: 'Remove' }).click();
    await expect(waiting('to be removed')).toHaveCount(0);
    await waiting('to be edited').getByRole('button', { name: 'Edit' }).click();
    await expect(composer(page)).toHaveValue('to be edited');
    await expect(page.getByText('Queued')).toHaveCount(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(answer(page)).toContainText('first in line');
    await expect(page.getByText('Queued')).toHaveCount(0);
    const id = new URL(page.url()).pathname.split('/').pop();
    const stored = JSON.stringify(await server.json(`/api/sessions/${id}`));
    expect(stored).not.toContain('to be');
});

test('two tabs on one conversation see the same', async ({ page, context }) => {
    await newConversation(page);
    const second = await context.newPage();
    await open(second, new URL(page.url()).pathname);
    await send(page, '[[say From the first tab.]]');
    await expect(answer(second)).toContainText('From the first tab.');
    await send(second, '[[say From the second tab.]]');
    await expect(answer(page)).toContainText('From the second tab.');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
    await expect(second.getByRole('button', { name: 'Stop' })).toBeHidden();
    expect(await page.getByRole('log').innerText()).toBe(await second.getByRole('log').innerText());
});

test.describe('a phone that was away', () => {
    test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/ });

    test('shows what ended meanwhile, and the mark goes once it does', async ({ page, server }) => {
        let away = false;
        let cut: (() => Promise<void>) | undefined;
        await page.routeWebSocket(/\/ws$/, (socket) => {
            if (away) return void socket.close();
            const upstream = socket.connectToServer();
            cut = async () => { await socket.close(); await upstream.close(); };
        });
        const id = await server.newSession();
        const unread = async () => (await server.json(`/api/sessions/${id}`)).session.unread;
        await open(page, `/session/${id}`);
        await expect.poll(() => cut !== undefined).toBe(true);
        away = true;
        await cut?.();
        await expect(page.getByText('Offline.')).toBeVisible();
        await server.converse(id, '[[say While you were away.]]');
        await expect.poll(unread).toBe(true);
        away = false;
        await page.evaluate(() => window.dispatchEvent(new Event('online')));
        await expect(answer(page)).toContainText('While you were away.');
        await expect.poll(unread).toBe(false);
    });
});
