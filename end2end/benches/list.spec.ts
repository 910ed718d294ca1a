import type { Page } from '@playwright/test';
import { list } from '../support/list.ts';
import { longest, memory, promise, slowed, tasks, watchTasks } from '../support/load.ts';
import { Server } from '../support/server.ts';
import { expect, open, test as base } from '../support/test.ts';

/** The most elements that may be in the list, however many rows it has. */
const MOST_ELEMENTS = 1_000;

const test = base.extend<{ server: Server }>({
    server: async ({ pace }, use) => {
        const data = process.env.THROUGHLINE_BENCH_DATA;
        if (!data) throw new Error('THROUGHLINE_BENCH_DATA must name a filled folder: run `cargo xtask bench browser`');
        const server = new Server(pace);
        await server.startOver(data);
        await use(server);
        await server.remove();
    },
});

const height = (page: Page) => list(page).evaluate((it) => it.scrollHeight);

/** Scrolls as a thumb does: some rows with each frame, for some frames. */
async function fling(page: Page, pixels: number, frames: number): Promise<void> {
    await list(page).evaluate(async (it, [pixels, frames]) => {
        for (let frame = 0; frame < frames; frame += 1) {
            it.scrollBy(0, pixels);
            await new Promise(requestAnimationFrame);
        }
    }, [pixels, frames]);
}

test('a list of 100,000 sessions is scrolled, jumped in and changed', async ({ page, server }) => {
    const counts = await server.json('/api/sessions/counts');
    expect(counts.all).toBe(100_000);
    await watchTasks(page);
    await open(page, '/?view=current');
    const session = await slowed(page);
    await page.waitForTimeout(1_000);
    await tasks(page);

    await fling(page, 60, 600);
    await longest(page, 'scrolling, a row with each frame');
    for (let round = 0; round < 40; round += 1) {
        const before = await height(page);
        await fling(page, 400, 20);
        if (round < 30) await expect.poll(() => height(page)).toBeGreaterThan(before);
    }
    await longest(page, 'scrolling on and on, six rows with each frame');
    await fling(page, -2_000, 40);
    await longest(page, 'flinging back');
    const end = await height(page);
    for (const place of [0, 0.5, 1, 0.25, 0.75]) {
        await list(page).evaluate((it, top) => it.scrollTo(0, top), place * end);
        await page.waitForTimeout(200);
    }
    await longest(page, 'jumping to and fro');
    await list(page).evaluate((it, top) => it.scrollTo(0, top), end / 2);
    for (let made = 0; made < 10; made += 1) await server.newSession();
    await page.waitForTimeout(500);
    await longest(page, 'ten new rows above what is in sight');

    const rows = Math.round(end / 64);
    const elements = await list(page).locator('*').count();
    promise(elements <= MOST_ELEMENTS, `elements in the list, ${rows} rows read`, `${elements}`, `at most ${MOST_ELEMENTS}`);
    const { heap, module } = await memory(session);
    console.log(`  heap ${heap}, module ${module}, ${rows} rows read`);
});
