import type { Page, WebSocketRoute } from '@playwright/test';
import { alive, answer, expect, newConversation, open, send, test } from '../support/test.ts';

// The browser itself reports every connection that it could not make.
test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/ });

/** Cuts come at moments that differ from run to run of the loop, and are the same in every run. */
function random(seed: number): () => number {
    let state = seed;
    return () => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        return state / 2_147_483_648;
    };
}

/** Lets a test cut the page's socket; the page comes back as a phone does that is online again. */
async function cuttable(page: Page): Promise<{ cut: () => Promise<void>; frames: () => number }> {
    let current: { page: WebSocketRoute; server: WebSocketRoute } | undefined;
    let frames = 0;
    await page.routeWebSocket(/\/ws$/, (socket) => {
        const server = socket.connectToServer();
        current = { page: socket, server };
        server.onMessage((message) => {
            frames += 1;
            socket.send(message);
        });
    });
    const cut = async () => {
        await current?.page.close();
        await current?.server.close();
        await page.evaluate(() => window.dispatchEvent(new Event('online')));
    };
    return { cut, frames: () => frames };
}

async function expectAsStored(page: Page): Promise<void> {
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: 30_000 });
    const fresh = await page.context().newPage();
    await open(fresh, new URL(page.url()).pathname);
    const expected = await fresh.getByRole('log').innerText();
    await expect.poll(() => page.getByRole('log').innerText()).toBe(expected);
    await fresh.close();
}

test('a stream that is cut a hundred times ends as the server has it', async ({ page, server, isMobile }) => {
    test.skip(isMobile, 'the same code, and a minute is enough');
    test.setTimeout(240_000);
    const next = random(20_261_116);
    const socket = await cuttable(page);
    await newConversation(page);
    for (let cuts = 0; cuts < 100;) {
        await send(page, `[[slow 60 25]][[tool list .]][[slow 40 25]]`);
        await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
        for (let round = 0; round < 25; round += 1, cuts += 1) {
            // A number of frames, not of milliseconds, so that each cut falls inside the stream.
            const until = socket.frames() + Math.floor(next() * 4);
            await expect.poll(() => socket.frames() >= until || page.getByRole('button', { name: 'Stop' }).isHidden()).toBeTruthy();
            await socket.cut();
        }
        if (cuts % 50 === 0) {
            // Among the cuts, the server itself goes away and comes back.
            await server.kill();
            await server.start();
            await page.evaluate(() => window.dispatchEvent(new Event('online')));
        }
        await expectAsStored(page);
        await page.reload();
        await alive(page);
    }
    await send(page, '[[say Still here.]]');
    await expect(answer(page)).toContainText('Still here.');
});
