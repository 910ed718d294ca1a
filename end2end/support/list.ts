import type { Page } from '@playwright/test';

export const list = (page: Page) => page.locator('.sidebar');
export const rows = (page: Page) => list(page).getByRole('listitem');
export const row = (page: Page, id: string) => list(page).locator(`.row[href="/session/${id}"]`);
export const view = (page: Page, name: string) => list(page).locator('.views').getByRole('link', { name: new RegExp(`^${name}`) });

/** Opens what can be done with a row. */
export async function more(page: Page, id: string) {
    const item = list(page).locator('li').filter({ has: page.locator(`[href="/session/${id}"]`) });
    await item.hover();
    await item.getByRole('button', { name: 'More' }).click();
    return page.getByRole('dialog');
}
