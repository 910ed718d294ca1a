import { alive, answer, expect, newConversation, open, send, test } from '../support/test.ts';

// The browser itself reports every connection that it could not make.
test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/ });

test('a prompt written while the server is away goes out once, when it is back', async ({ page, server }) => {
    await newConversation(page);
    await server.kill();
    await expect(page.getByText('Offline.')).toBeVisible();
    await send(page, '[[say I waited.]]');
    await expect(page.getByText('Waiting to send')).toBeVisible();
    await server.start();
    await expect(answer(page)).toContainText('I waited.');
    await expect(page.getByText('Waiting to send')).toBeHidden();
    await expect(page.getByText('Offline.')).toBeHidden();
    await page.reload();
    await alive(page);
    await expect(page.getByRole('article', { name: 'You' })).toHaveCount(1);
});

test('a page that was open while the server was killed shows the answer as unfinished', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[say Saved.]][[tool list .]][[hang]]');
    await expect(page.locator('summary', { hasText: 'list' })).toContainText('done');
    await server.kill();
    await server.start();
    await expect(answer(page)).toContainText('Stopped: the server restarted');
    await expect(answer(page)).toContainText('Saved.');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
});

test('a conversation that could not be opened opens by itself when the server is back', async ({ page, server, isMobile }) => {
    const id = await server.newSession();
    await server.converse(id, '[[say Here.]]');
    const other = await server.newSession();
    await open(page, `/session/${other}`);
    if (isMobile) await page.getByRole('link', { name: 'All conversations' }).click();
    await server.kill();
    await expect(page.getByText('Offline.')).toBeVisible();
    await page.getByRole('navigation').getByRole('link', { name: 'Here.' }).click();
    await expect(page.getByRole('heading', { name: 'This conversation could not be opened' })).toBeVisible();
    await server.start();
    await expect(answer(page)).toContainText('Here.');
});

test('a page whose code did not come says so, and opens by itself when the server is back', async ({ page, server }) => {
    const id = await server.newSession();
    await server.converse(id, '[[say Here.]]');
    await page.route('**/split_conversation.wasm', (route) => route.abort());
    await open(page, '/');
    await page.getByRole('navigation').getByRole('link', { name: 'Here.' }).click();
    await expect(page.getByRole('heading', { name: 'This page could not be loaded' })).toBeVisible();
    await page.unroute('**/split_conversation.wasm');
    await server.kill();
    await expect(page.getByText('Offline.')).toBeVisible();
    await server.start();
    await expect(answer(page)).toContainText('Here.');
});

test('losing the network in the middle of an answer is told within seconds, whatever was still on its way', async ({ page }) => {
    let [cut, late] = [false, 0];
    await page.routeWebSocket(/\/ws$/, (socket) => {
        const server = socket.connectToServer();
        socket.onMessage((message) => {
            if (!cut) server.send(message);
        });
        server.onMessage((message) => {
            // Some words come after the network went.
            if (!cut || (late += 1) <= 3) socket.send(message);
        });
    });
    await newConversation(page);
    await send(page, '[[slow 200 50]]');
    await expect(answer(page)).toContainText('word2');
    cut = true;
    await page.evaluate(() => {
        Object.defineProperty(navigator, 'onLine', { get: () => false });
        dispatchEvent(new Event('offline'));
    });
    await expect(page.getByRole('status').filter({ hasText: 'Offline' })).toBeVisible();
    expect(late).toBeGreaterThan(3);
});
