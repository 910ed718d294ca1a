import type { Page } from '@playwright/test';
import { audit, expect, open, test } from '../support/test.ts';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Find and open' });
const field = (page: Page) => palette(page).getByRole('combobox');
const options = (page: Page) => palette(page).getByRole('option');

test('the palette finds a conversation by its words and opens it at the message', async ({ page, server }) => {
    const id = await server.newSession();
    await server.converse(id, '[[say hello]]');
    await server.converse(id, '[[say the quokka sleeps]]');
    for (let more = 0; more < 3; more += 1) await server.converse(id, '[[table]][[code rust]]');
    await open(page, '/settings');
    await page.keyboard.press('ControlOrMeta+k');
    await expect(field(page)).toBeFocused();
    await audit(page);
    await field(page).fill('quokk');
    await expect(options(page).locator('mark').first()).toHaveText('quokka');
    await audit(page);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`/session/${id}\\?message=`));
    await expect(page.locator('[data-found]')).toContainText('the quokka sleeps');
    await expect(page.locator('[data-found]')).toBeInViewport();
    await expect(palette(page)).toHaveCount(0);
});

test('the palette finds a conversation by its title, and moves by arrows', async ({ page, server }) => {
    const [first, second] = [await server.newSession(), await server.newSession()];
    await server.patch(first, { title: 'Harbour lights' });
    await server.patch(second, { title: 'Harbour cranes' });
    await open(page, '/settings');
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).fill('harbour');
    await expect(options(page)).toHaveCount(2);
    await expect(options(page).first()).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('ArrowDown');
    await expect(options(page).nth(1)).toHaveAttribute('aria-selected', 'true');
    await expect(field(page)).toHaveAttribute('aria-activedescendant', (await options(page).nth(1).getAttribute('id'))!);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const title = await options(page).nth(1).innerText();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title.trim());
});

test('the palette offers what can be done, and Escape gives the focus back', async ({ page, server }) => {
    await server.newSession();
    await open(page, '/settings');
    const dark = page.getByRole('radio', { name: 'Dark' });
    await dark.focus();
    await page.keyboard.press('ControlOrMeta+k');
    await expect(field(page)).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(palette(page)).toHaveCount(0);
    await expect(dark).toBeFocused();
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).fill('theme: d');
    await page.keyboard.press('Enter');
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).fill('recov');
    await options(page).first().click();
    await expect(page).toHaveURL(/\/recovery$/);
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).fill('shortcuts');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
    await audit(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).fill('new conv');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/session\/\w+$/);
});

test('typing costs one request at a time, and an old answer is never shown', async ({ page, server }) => {
    for (const title of ['Alpha one', 'Beta two']) {
        await server.patch(await server.newSession(), { title });
    }
    let [underWay, most, asked] = [0, 0, 0];
    await page.route('**/fn/search_sessions', async (route) => {
        underWay += 1;
        asked += 1;
        most = Math.max(most, underWay);
        const response = await route.fetch();
        await new Promise((resolve) => setTimeout(resolve, 150));
        underWay -= 1;
        await route.fulfill({ response });
    });
    await open(page, '/settings');
    await page.keyboard.press('ControlOrMeta+k');
    await field(page).pressSequentially('alpha', { delay: 20 });
    await field(page).fill('');
    await field(page).pressSequentially('beta', { delay: 20 });
    await expect(options(page)).toHaveText([/Beta two/]);
    await expect(palette(page)).not.toContainText('Alpha');
    expect(most).toBe(1);
    expect(asked).toBeLessThan(9);
});
