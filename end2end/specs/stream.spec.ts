import { answer, expect, newConversation, open, send, test } from '../support/test.ts';

test.use({ pace: 9 });

test('a long answer is drawn once: what stands is left alone while more comes', async ({ page, server }) => {
    for (let beside = 0; beside < 4; beside += 1) {
        await server.prompt(await server.newSession(), '[[long 10000]]');
    }
    await newConversation(page);
    const client = await page.context().newCDPSession(page);
    await client.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await send(page, '[[long 40]]');
    const blocks = answer(page).locator('.prose > *');
    await expect.poll(() => blocks.count()).toBeGreaterThan(4);
    // From here on, whatever is taken out of the page is counted, and the first blocks are kept in mind.
    await answer(page).locator('.prose').evaluate((prose) => {
        const drawn = { first: [...prose.children].slice(0, 3), removed: 0 };
        Object.assign(window, { drawn });
        const count = (list: MutationRecord[]) => list.forEach((it) => { drawn.removed += it.removedNodes.length; });
        new MutationObserver(count).observe(prose, { childList: true });
    });
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden({ timeout: 40_000 });
    const { kept, removed, shown } = await answer(page).locator('.prose').evaluate((prose) => {
        const { drawn } = window as unknown as { drawn: { first: Element[]; removed: number } };
        return {
            kept: drawn.first.every((block, place) => prose.children[place] === block),
            removed: drawn.removed,
            shown: prose.children.length,
        };
    });
    expect(kept, 'blocks that stand are not drawn again').toBe(true);
    const words = (await answer(page).innerText()).split(/\s+/).length;
    expect(removed, 'a block is drawn again only for its own words').toBeLessThanOrEqual(words);
    const fresh = await page.context().newPage();
    await open(fresh, new URL(page.url()).pathname);
    expect(await fresh.locator('.prose > *').count()).toBe(shown + 1);
    expect(await answer(page).innerText()).toBe(await answer(fresh).innerText());
});

test.describe('at a quick pace', () => {
    test.use({ pace: 1 });

    test('the beginning of an endless answer leaves the page while its end is followed', async ({ page }) => {
        await newConversation(page);
        await send(page, '[[long 200]]');
        const number = (it: number) => answer(page).getByText(`${it}.`, { exact: true });
        await expect(number(200)).toBeVisible({ timeout: 50_000 });
        const blocks = answer(page).locator('.prose > :not(button)');
        expect(await blocks.count()).toBeLessThanOrEqual(100);
        await expect(number(1)).toHaveCount(0);
        await answer(page).getByRole('button', { name: 'Show the beginning' }).click();
        await expect(number(1)).toHaveCount(1);
        await expect.poll(() => blocks.count()).toBeGreaterThanOrEqual(400);
        await expect(answer(page).getByRole('button', { name: 'Show the beginning' })).toHaveCount(0);
    });
});
