import { expect, newConversation, open, test } from '../support/test.ts';

test('keys lead about the app, and none is taken from who types', async ({ page, server, isMobile }) => {
    test.skip(isMobile, 'a phone has no keyboard');
    const ids = [];
    for (let made = 0; made < 3; made += 1) ids.push(await server.newSession());
    await open(page, '/');
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await expect(sheet.getByRole('listitem')).toHaveCount(8);
    await page.keyboard.press('n');
    await expect(page, 'a dialog takes keys for itself').toHaveURL(/\/$/);
    await page.keyboard.press('Escape');
    await expect(sheet).toHaveCount(0);

    const row = (place: number) => page.locator('.rows .row').nth(place);
    await page.keyboard.press('j');
    await expect(row(0)).toBeFocused();
    await page.keyboard.press('j');
    await expect(row(1)).toBeFocused();
    await page.keyboard.press('k');
    await expect(row(0)).toBeFocused();
    const href = await row(0).getAttribute('href');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`${href}$`));
    await page.keyboard.press('Escape');
    await expect(page).toHaveURL(/\/$/);

    await page.keyboard.press('/');
    const search = page.getByRole('searchbox', { name: 'Search conversations' });
    await expect(search).toBeFocused();
    await page.keyboard.type('jn?');
    await expect(search).toHaveValue('jn?');
    await page.keyboard.press('Escape');
    await expect(search).toHaveValue('');
    await page.keyboard.press('Escape');
    await expect(search).not.toBeFocused();

    await page.keyboard.press('n');
    await expect(page).toHaveURL(/\/session\/\w+$/);
    await page.getByRole('textbox', { name: 'Message' }).fill('');
    await page.keyboard.type('njk?/');
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('njk?/');
});

test('a long list is walked through by keys', async ({ page, server, isMobile }) => {
    test.skip(isMobile, 'a phone has no keyboard');
    for (let made = 0; made < 80; made += 1) await server.newSession();
    await open(page, '/');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'));
    const seen = new Set<string | null | undefined>();
    for (let step = 0; step < 70; step += 1) {
        const before = await focused();
        await page.keyboard.press('j');
        await expect.poll(focused).not.toBe(before);
        seen.add(await focused());
    }
    expect(seen.size).toBe(70);
    await newConversation(page);
});
