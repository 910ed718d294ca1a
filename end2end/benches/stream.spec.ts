import type { Page } from '@playwright/test';
import { longest, memory, promise, slowed, tasks, watchTasks } from '../support/load.ts';
import { answer, expect, newConversation, open, send, test } from '../support/test.ts';

/** How long the long run takes. */
const SECONDS = Number(process.env.THROUGHLINE_BENCH_SECONDS ?? 300);

/** The most that a page may hold at the end, measured by what it held after the first tenth. */
const GROWTH = 1.1;

/** The most that the module may hold for each byte of an answer, which it has to remember. */
const FOR_EACH_BYTE = 3;

test.use({ pace: 9 });

// One browser serves all of these, and it traces one page at a time.
test.afterEach(({ browser }) => browser.stopTracing());

/** Reads what the server knows of: the page does not show the beginning of a long answer. */
async function said(page: Page): Promise<{ words: number; bytes: number }> {
    const response = await fetch(new URL(page.url().replace('/session/', '/api/sessions/')));
    const { messages } = (await response.json()) as { messages: { parts: { text?: string }[] }[] };
    const text = messages.flatMap((it) => it.parts).map((it) => it.text ?? '').join(' ');
    return { words: text.split(/\s+/).length, bytes: Buffer.byteLength(text) };
}

test(`a stream in view and four beside it, for ${SECONDS} s`, async ({ page, server }) => {
    await watchTasks(page);
    for (let beside = 0; beside < 4; beside += 1) {
        await server.prompt(await server.newSession(), '[[long 10000]]');
    }
    await newConversation(page);
    const session = await slowed(page);
    await send(page, '[[long 10000]]');
    await expect(answer(page)).toContainText('1');
    await page.waitForTimeout(2_000);
    const begun = { ...(await said(page)), memory: await memory(session) };
    // Looking at the memory takes a while itself.
    await tasks(page);
    let early = begun;
    for (let tenth = 1; tenth <= 10; tenth += 1) {
        await page.waitForTimeout(SECONDS * 100);
        await longest(page, `${tenth * 10} % of the stream`);
        const now = { ...(await said(page)), memory: await memory(session) };
        await tasks(page);
        const { heap, module, nodes, listeners } = now.memory;
        console.log(`  ${now.words} words, ${now.bytes} bytes, ${nodes} nodes, ${listeners} listeners, heap ${heap}, module ${module}`);
        if (tenth === 1) early = now;
        if (tenth < 10) continue;
        const rate = (now.words - begun.words) / SECONDS;
        promise(rate >= 90, 'words a second', rate.toFixed(0), 'at least 90');
        const grown = now.memory.heap / early.memory.heap;
        promise(grown <= GROWTH, 'memory of the page at the end : after a tenth', grown.toFixed(2), `at most ${GROWTH}`);
        const each = (now.memory.module - early.memory.module) / (now.bytes - early.bytes);
        promise(each <= FOR_EACH_BYTE, 'memory of the module for each byte of the answer', each.toFixed(2), `at most ${FOR_EACH_BYTE}`);
    }
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true);
});

/** Blocks that agents write and that grow for a long time. */
const blocks = {
    'one paragraph of 2,000 words': '[[slow 2000 10]]',
    'one code block of 400 lines': `[[say \`\`\`rust\n${'let total = values.iter().map(|value| value * 2).sum::<u32>(); // doubled\n'.repeat(400)}\`\`\`]]`,
    'one list of 300 items': `[[say ${Array.from({ length: 300 }, (_, item) => `- item ${item} has *some* \`words\``).join('\n')}]]`,
    'one table of 200 rows': `[[say | a | b |\n|---|---|\n${'| some words | and *more* words |\n'.repeat(200)}]]`,
};

for (const [what, prompt] of Object.entries(blocks)) {
    test(what, async ({ page, server }) => {
        await watchTasks(page);
        const id = await server.newSession();
        await open(page, `/session/${id}`);
        await slowed(page);
        await tasks(page);
        await server.prompt(id, prompt);
        await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
        // The prompt itself holds the whole block, and is drawn at once.
        await tasks(page);
        await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: 120_000 });
        await longest(page, what);
    });
}
