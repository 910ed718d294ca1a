import type { Page } from '@playwright/test';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { alive, answer, audit, expect, newConversation, open, send, test } from '../support/test.ts';

// The browser itself reports every connection that it could not make.
test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/ });

const outbox = (page: Page) => page.evaluate(() => localStorage.getItem('throughline.outbox') ?? '');
const prompts = (page: Page) => page.getByRole('article', { name: 'You', exact: true });

function idOf(page: Page): string {
    return new URL(page.url()).pathname.split('/').pop() as string;
}

test('a prompt that could not leave survives a reload and goes out when the server is back', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[say First.]]');
    await expect(answer(page)).toContainText('First.');
    const id = idOf(page);
    await server.kill();
    await expect(page.getByText('Offline.')).toBeVisible();
    await send(page, '[[say Second.]]');
    await expect(page.getByText('Waiting to send')).toBeVisible();
    await expect(page.getByText('One message waits to be sent.')).toBeVisible();
    expect(await outbox(page)).toContain('Second.');
    // Nothing answers a reload, so the tab is closed and opened again when the server is back.
    await server.start();
    await page.reload();
    await alive(page);
    await expect(answer(page)).toContainText('Second.');
    await expect(prompts(page)).toHaveCount(2);
    await expect.poll(() => outbox(page)).toContain('"turns":[]');
    const stored = await server.json(`/api/sessions/${id}`);
    expect(stored.messages.filter((message: any) => message.role === 'user')).toHaveLength(2);
});

test('a prompt stored by a tab that crashed before sending goes out from another page, once', async ({ page, server }) => {
    const id = await server.newSession();
    await open(page, '/settings');
    const turn = { turnId: 'from-a-crashed-tab', sessionId: id, content: '[[say Found it.]]', attachments: [] };
    await page.evaluate((turns) => localStorage.setItem('throughline.outbox', JSON.stringify({ version: 1, turns })), [turn]);
    await open(page, '/');
    await expect.poll(() => outbox(page)).toContain('"turns":[]');
    await open(page, `/session/${id}`);
    await expect(answer(page)).toContainText('Found it.');
    await expect(prompts(page)).toHaveCount(1);
});

test('the network is cut between a prompt and its acknowledgement: one message, once', async ({ page, server }) => {
    // The page speaks to the server through us; what comes back can be held.
    let holding = false;
    let cut: (() => Promise<void>) | undefined;
    await page.routeWebSocket(/\/ws$/, (socket) => {
        const upstream = socket.connectToServer();
        cut = async () => { await socket.close(); await upstream.close(); };
        upstream.onMessage((message) => { if (!holding) socket.send(message); });
    });
    await newConversation(page);
    await send(page, '[[say Before.]]');
    await expect(answer(page)).toContainText('Before.');
    const id = idOf(page);
    holding = true;
    await send(page, '[[say Only once.]]');
    // The server has it, the page does not know.
    await expect.poll(async () => (await server.json(`/api/sessions/${id}`)).messages.length).toBe(4);
    await expect(page.getByText('Waiting to send')).toBeVisible();
    holding = false;
    await cut?.();
    await expect(answer(page)).toContainText('Only once.');
    await expect(prompts(page)).toHaveCount(2);
    await expect.poll(() => outbox(page)).toContain('"turns":[]');
    const stored = await server.json(`/api/sessions/${id}`);
    expect(stored.messages.filter((message: any) => message.role === 'user')).toHaveLength(2);
});

test('a prompt that is refused for good gives its text back', async ({ page }) => {
    await newConversation(page);
    const long = 'x'.repeat(257 * 1024);
    await send(page, long);
    await expect(page.getByRole('alert')).toContainText('too long');
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(long);
    expect(await outbox(page)).not.toContain('xxx');
});

test('an interrupted answer can be tried again, as a new turn', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[say Partly.]][[tool list .]][[hang]]');
    await expect(page.locator('summary', { hasText: 'list' })).toContainText('done');
    await server.kill();
    await server.start();
    await expect(answer(page)).toContainText('Stopped: the server restarted');
    await expect(answer(page)).toContainText('Partly.');
    await audit(page);
    await answer(page).getByRole('button', { name: 'Retry' }).click();
    await expect(prompts(page)).toHaveCount(2);
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(answer(page)).toContainText('Stopped by you');
});

test('a message that the store lost comes back, and the recovery page says what was found', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[say Kept.]]');
    await expect(answer(page)).toContainText('Kept.');
    const id = idOf(page);
    await server.stop();
    const folder = join(server.folder, 'data', '_turn_journal');
    const file = join(folder, readdirSync(folder)[0]);
    const record = {
        version: 1, event: 'submitted', turn_id: 'lost-one', session_id: id, created_at: Date.now() / 1000,
        role: 'user', content: 'What the store lost', attachments: [], workspace: '/',
    };
    appendFileSync(file, `${JSON.stringify(record)}\nnot json at all\n`);
    await server.start();
    await open(page, `/session/${id}`);
    await expect(prompts(page).last()).toContainText('What the store lost');
    await expect(prompts(page).last()).toContainText('Restored after the server stopped unexpectedly');
    await expect(answer(page)).toContainText('Stopped: the server restarted');
    await expect(answer(page).locator('.prose')).toHaveCount(0);
    await audit(page);

    await open(page, '/settings');
    await page.getByRole('link', { name: 'Recovery' }).click();
    await expect(page.getByText('cannot be used')).toBeVisible();
    await expect(page.getByText('1 answer was interrupted')).toBeVisible();
    await audit(page);
});

test('the recovery page repairs what can be repaired', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[say Kept.]]');
    await expect(answer(page)).toContainText('Kept.');
    const id = idOf(page);
    const folder = join(server.folder, 'data', '_turn_journal');
    const record = {
        version: 1, event: 'submitted', turn_id: 'left-behind', session_id: id, created_at: Date.now() / 1000,
        role: 'user', content: 'Left behind', attachments: [], workspace: '/',
    };
    appendFileSync(join(folder, readdirSync(folder)[0]), `${JSON.stringify(record)}\n`);
    await open(page, '/recovery');
    await expect(page.getByText('A message was sent and is missing from its conversation.')).toBeVisible();
    await audit(page);
    await page.getByRole('button', { name: 'Repair' }).click();
    await expect(page.getByText('All is in order.')).toBeVisible();
    await open(page, `/session/${id}`);
    await expect(prompts(page).last()).toContainText('Left behind');
});

test('a late copy of a prompt that was taken back leaves the outbox and shows nothing', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[hang]]');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
    await send(page, 'a heron that is taken back');
    const waiting = prompts(page).filter({ hasText: 'heron' });
    await expect(waiting).toBeVisible();
    const id = idOf(page);
    const stored = await server.json(`/api/sessions/${id}`);
    const turnId = stored.messages.find((message: any) => message.parts[0]?.text?.includes('heron')).turn_id;
    await waiting.getByRole('button', { name: 'Remove' }).click();
    await expect(waiting).toHaveCount(0);
    // Another tab kept a copy, and sends it when it is opened again.
    const turn = { turnId, sessionId: id, content: 'a heron that is taken back', attachments: [] };
    await page.evaluate((turns) => localStorage.setItem('throughline.outbox', JSON.stringify({ version: 1, turns })), [turn]);
    await page.reload();
    await alive(page);
    await expect.poll(() => outbox(page)).toContain('"turns":[]');
    await expect(waiting).toHaveCount(0);
});

test('a prompt that the browser cannot store is sent, and the person is told', async ({ page }) => {
    await newConversation(page);
    await page.evaluate(() => {
        Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };
    });
    await send(page, '[[say Arrived.]]');
    await expect(page.getByRole('alert')).toContainText('no space to keep your message');
    await expect(answer(page)).toContainText('Arrived.');
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('');
});
