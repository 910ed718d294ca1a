import type { Page, Route } from '@playwright/test';
import { list, more, row, rows, view } from '../support/list.ts';
import { alive, audit, expect, open, test } from '../support/test.ts';

const scrolled = (page: Page) => list(page).evaluate((it) => it.scrollTop);

/** Scrolls until the list has ended. */
async function scrollToEnd(page: Page): Promise<void> {
    const older = list(page).getByRole('button', { name: 'Show older conversations' });
    await expect(async () => {
        await list(page).evaluate((it) => it.scrollTo(0, it.scrollHeight));
        await expect(older).toHaveCount(0, { timeout: 300 });
    }).toPass();
    await list(page).evaluate((it) => it.scrollTo(0, it.scrollHeight));
}

test('views show what is current, all and what was archived, with counts that follow', async ({ page, server }) => {
    const [kept, away] = [await server.newSession(), await server.newSession()];
    await server.patch(away, { archived: true });
    await open(page, '/');
    await expect(rows(page)).toHaveCount(1);
    await expect(view(page, 'Current')).toHaveText('Current1');
    await view(page, 'Archived').focus();
    await page.keyboard.press('Enter');
    await expect(row(page, away)).toBeVisible();
    await expect(row(page, kept)).toHaveCount(0);
    await expect(view(page, 'Archived')).toBeFocused();
    await expect(view(page, 'Archived')).toHaveAttribute('aria-current', 'true');
    await audit(page);
    await server.patch(kept, { archived: true });
    await expect(rows(page), 'an open list changes by itself').toHaveCount(2);
    await expect(view(page, 'Archived')).toHaveText('Archived2');
    await view(page, 'All').click();
    await expect(rows(page)).toHaveCount(0);
    await expect(list(page)).toContainText('No conversations yet.');
    await server.patch(kept, { archived: false });
    await expect(rows(page)).toHaveCount(1);
    await expect(view(page, 'All')).toHaveText('All1');
    await page.reload();
    await alive(page);
    await expect(view(page, 'Archived')).toHaveText('Archived1');
});

test('a view stays beside the conversation that is opened from it', async ({ page, server, isMobile }) => {
    const away = await server.newSession();
    await server.patch(away, { archived: true });
    await open(page, '/?view=archived');
    await row(page, away).click();
    await expect(page).toHaveURL(new RegExp(`/session/${away}$`));
    if (isMobile) await page.getByRole('link', { name: 'All conversations' }).click();
    await expect(row(page, away)).toBeVisible();
    await expect(view(page, 'Archived')).toHaveAttribute('aria-current', 'true');
});

test('a parent leaves the list when a child appears, unless it is in view, and comes back when the child goes', async ({ page, server }) => {
    const parent = await server.newSession();
    await server.converse(parent, 'The beginning');
    await open(page, '/');
    await expect(row(page, parent)).toBeVisible();
    const fork = await server.json(`/api/sessions/${parent}/fork`, {});
    await expect(row(page, fork.session_id)).toBeVisible();
    await expect(row(page, parent)).toHaveCount(0);
    await view(page, 'All').click();
    await expect(row(page, parent)).toBeVisible();
    await open(page, `/session/${parent}`);
    await expect(row(page, parent)).toHaveCount(1);
    await open(page, '/settings');
    await expect(row(page, parent)).toHaveCount(0);
    await server.delete(fork.session_id);
    await expect(row(page, parent)).toHaveCount(1);
    await expect(row(page, fork.session_id)).toHaveCount(0);
});

test('a conversation that is compressed stays one row, the newest', async ({ page, server }) => {
    const first = await server.newSession();
    await open(page, '/');
    await expect(row(page, first)).toBeVisible();
    const { continuation } = await server.converse(first, '[[say hello]][[compress]]');
    await expect(row(page, continuation)).toBeVisible();
    await expect(row(page, first)).toHaveCount(0);
    await view(page, 'All').click();
    await expect(rows(page)).toHaveCount(1);
});

test('what is pinned or waits stays in the list when a child appears', async ({ page, server }) => {
    const [pinned, waiting] = [await server.newSession(), await server.newSession()];
    for (const id of [pinned, waiting]) await server.converse(id, 'The beginning');
    await server.patch(pinned, { pinned: true });
    await server.prompt(waiting, '[[ask Which one? | Left | Right]]');
    await open(page, '/');
    await expect(row(page, waiting)).toContainText('Waiting for you');
    for (const id of [pinned, waiting]) await server.json(`/api/sessions/${id}/fork`, {});
    await expect(rows(page)).toHaveCount(4);
    await page.reload();
    await alive(page);
    await expect(rows(page)).toHaveCount(4);
});

test('the list goes on by itself, few rows are on the page, and what is in sight stays where it is', async ({ page, server }) => {
    const ids: string[] = [];
    for (let made = 0; made < 120; made += 1) ids.push(await server.newSession());
    await open(page, '/');
    await expect(row(page, ids[119])).toBeVisible();
    await scrollToEnd(page);
    await expect(row(page, ids[0])).toBeInViewport();
    expect(await rows(page).count()).toBeLessThan(50);
    // Somewhere in the middle.
    await list(page).evaluate((it) => it.scrollTo(0, 3_000));
    await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
    const seen = async () => list(page).evaluate((it) => {
        const top = it.getBoundingClientRect().top;
        const found = [...it.querySelectorAll('.row')].find((row) => row.getBoundingClientRect().top > top + 100);
        return found?.getAttribute('href');
    });
    const href = await seen();
    const place = async () => (await list(page).locator(`[href="${href}"]`).boundingBox())?.y ?? 0;
    const [before, top] = [await place(), await scrolled(page)];
    for (let made = 0; made < 3; made += 1) await server.newSession();
    await expect.poll(() => scrolled(page)).toBe(top + 3 * 64);
    expect(Math.abs((await place()) - before)).toBeLessThan(2);
    await list(page).evaluate((it) => it.scrollTo(0, 0));
    await expect(rows(page).first()).toBeInViewport();
    await expect(view(page, 'Current')).toHaveText('Current123');
});

test('Back on a phone returns to the list where it was', async ({ page, server, isMobile }) => {
    test.skip(!isMobile, 'on a desktop the list is always there');
    for (let made = 0; made < 60; made += 1) await server.newSession();
    await open(page, '/');
    await scrollToEnd(page);
    await list(page).evaluate((it) => it.scrollTo(0, 1_500));
    await expect.poll(() => scrolled(page)).toBe(1_500);
    // One in sight: those around it come and go from one frame to the next.
    const inSight = () => list(page).evaluate((it) => {
        const { left, top, height } = it.getBoundingClientRect();
        return document.elementFromPoint(left + 100, top + height / 2)?.closest('.row')?.getAttribute('href') ?? '';
    });
    await expect.poll(inSight).not.toBe('');
    const href = await inSight();
    await page.locator(`.row[href="${href}"]`).evaluate((it: HTMLElement) => it.click());
    await expect(page).toHaveURL(new RegExp(`${href}$`));
    await page.goBack();
    await expect(list(page)).toBeVisible();
    // What was opened has moved up to what is worked with, and the others stay.
    await expect.poll(async () => Math.abs((await scrolled(page)) - 1_500)).toBeLessThanOrEqual(64);
    expect(await scrolled(page)).toBeGreaterThan(1_400);
});

test('a conversation is renamed, pinned and put away', async ({ page, server }) => {
    const [first, second] = [await server.newSession(), await server.newSession()];
    await open(page, '/');
    let dialog = await more(page, first);
    await audit(page);
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('The first of all');
    await page.keyboard.press('Enter');
    await expect(row(page, first)).toContainText('The first of all');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(list(page)).toContainText('Conversation renamed.');
    await list(page).getByRole('button', { name: 'Undo' }).click();
    await expect(row(page, first)).not.toContainText('The first of all');
    await expect(list(page).getByRole('button', { name: 'Undo' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(row(page, first)).toContainText('The first of all');
    dialog = await more(page, first);
    await dialog.getByRole('button', { name: 'Pin' }).click();
    await expect(row(page, first)).toContainText('Pinned');
    await list(page).getByRole('button', { name: 'Undo' }).click();
    await expect(row(page, first)).not.toContainText('Pinned');
    dialog = await more(page, first);
    await dialog.getByRole('button', { name: 'Pin' }).click();
    await expect(row(page, first)).toContainText('Pinned');
    await expect(rows(page).first()).toContainText('The first of all');
    dialog = await more(page, first);
    await dialog.getByRole('button', { name: 'Unpin' }).click();
    await expect(row(page, first)).not.toContainText('Pinned');
    dialog = await more(page, second);
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await expect(row(page, second)).toHaveCount(0);
    await expect(list(page)).toContainText('Conversation archived.');
    await view(page, 'Archived').click();
    dialog = await more(page, second);
    await dialog.getByRole('button', { name: 'Take out of the archive' }).click();
    await expect(list(page)).toContainText('Nothing is archived.');
});

test('what is deleted can be brought back where it was', async ({ page, server, isMobile }) => {
    const id = await server.newSession();
    await server.converse(id, 'Something dear');
    await open(page, '/');
    if (!isMobile) await row(page, id).click();
    const dialog = await more(page, id);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(row(page, id)).toHaveCount(0);
    await expect(page, 'nobody stays with what is gone').toHaveURL(/\/$/);
    await expect(list(page).getByRole('button', { name: 'Undo' })).toBeFocused();
    await audit(page);
    await page.keyboard.press('Enter');
    await expect(row(page, id)).toContainText('Something dear');
    await expect(list(page).getByRole('button', { name: 'Undo' })).toHaveCount(0);
    const { messages } = await server.json(`/api/sessions/${id}`);
    expect(messages).toHaveLength(2);
});

test('several at once: chosen, archived, brought back, deleted', async ({ page, server }) => {
    const ids = [];
    for (let made = 0; made < 4; made += 1) ids.push(await server.newSession());
    await open(page, '/');
    const dialog = await more(page, ids[0]);
    await dialog.getByRole('button', { name: 'Choose several' }).click();
    await expect(list(page)).toContainText('1 chosen');
    await row(page, ids[1]).click();
    await list(page).locator('li').filter({ has: page.locator(`[href="/session/${ids[2]}"]`) }).getByRole('checkbox').check();
    await expect(list(page)).toContainText('3 chosen');
    await expect(page).toHaveURL(/\/$/);
    await audit(page);
    await row(page, ids[2]).click();
    await expect(list(page)).toContainText('2 chosen');
    await list(page).getByRole('button', { name: 'Archive', exact: true }).click();
    await expect(list(page)).toContainText('2 conversations archived.');
    await expect(rows(page)).toHaveCount(2);
    await list(page).getByRole('button', { name: 'Undo' }).click();
    await expect(rows(page)).toHaveCount(4);
    await (await more(page, ids[3])).getByRole('button', { name: 'Choose several' }).click();
    await row(page, ids[0]).click();
    await list(page).getByRole('button', { name: 'Delete' }).click();
    await expect(rows(page)).toHaveCount(2);
    await list(page).getByRole('button', { name: 'Undo' }).click();
    await expect(rows(page)).toHaveCount(4);
});

test.describe('without a server', () => {
    test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)/ });

    test('the list says in plain words that it cannot go on, and is right once the server is back', async ({ page, server }) => {
        for (let made = 0; made < 60; made += 1) await server.newSession();
        await open(page, '/');
        await server.kill();
        await list(page).evaluate((it) => it.scrollTo(0, it.scrollHeight));
        await expect(list(page).locator('.problem')).toBeVisible();
        await server.start();
        const late = await server.newSession();
        await page.evaluate(() => window.dispatchEvent(new Event('online')));
        await expect(list(page).locator('.problem')).toHaveCount(0);
        await scrollToEnd(page);
        await list(page).evaluate((it) => it.scrollTo(0, 0));
        await expect(row(page, late)).toBeVisible();
        await expect(view(page, 'Current')).toHaveText('Current61');
    });

    test('the list goes on although a page was asked for before the list was fetched again', async ({ page, server }) => {
        for (let made = 0; made < 60; made += 1) await server.newSession();
        await open(page, '/');
        let release = () => {};
        const held = new Promise<void>((resolve) => (release = resolve));
        const asked = page.waitForRequest('**/fn/list');
        const hold = async (route: Route) => {
            await held;
            await route.continue();
        };
        await page.route('**/fn/list', hold, { times: 1 });
        await list(page).evaluate((it) => it.scrollTo(0, it.scrollHeight));
        await asked;
        await server.kill();
        await server.start();
        await server.newSession();
        await page.evaluate(() => window.dispatchEvent(new Event('online')));
        await expect(view(page, 'Current')).toHaveText('Current61');
        release();
        await expect(list(page).getByRole('button', { name: 'Show older conversations' })).toHaveCount(0);
    });
});
