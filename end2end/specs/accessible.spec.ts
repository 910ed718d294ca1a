import type { Page } from '@playwright/test';
import type { Server } from '../support/server.ts';
import { answer, audit, expect, open, send, sendPlainly, test } from '../support/test.ts';

test.use({ allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)|was preloaded using link preload/ });

const RICH = [
    '[[think A thought]][[say ## A heading\n\nWords, `code`, [a link](https://example.org) and **more**.\n\n',
    '- [x] done\n- [ ] to do\n\n| a | b |\n|---|--:|\n| one | 2 |\n\n```rust\nfn main() { println!("1"); }\n```\n\n> quoted]]',
    '[[tool list .]][[plan Look | Think | Write]]',
].join('');

/** One of each page that there is, with what it shows most of. */
async function pages(server: Server): Promise<string[]> {
    const id = await server.newSession();
    await server.converse(id, RICH);
    const { messages } = await server.converse(id, '[[compress]]');
    expect(messages.length).toBeGreaterThan(0);
    const { sessions } = await server.json('/api/sessions?view=all');
    const record = sessions.find((row: { pre_compression_snapshot: boolean }) => row.pre_compression_snapshot);
    const asking = await server.newSession();
    await server.prompt(asking, '[[ask Which one? | Left | Right]]');
    const failed = await server.newSession();
    await server.converse(failed, '[[say Some words]][[error It broke]]');
    return [
        '/', '/new', '/settings', '/recovery', '/nowhere', '/session/gone', `/archive/${record.session_id}`,
        `/session/${await server.newSession()}`, `/session/${id}`, `/session/${asking}`, `/session/${failed}`,
    ];
}

test('no page has a finding, alive or as the server sends it', async ({ page, server }) => {
    test.setTimeout(240_000);
    const all = await pages(server);
    for (const path of all) {
        await open(page, path);
        await audit(page);
    }
    // The page itself can be looked over only by a script, so it is the app's that is kept away.
    await page.route('**/pkg/start.*', (route) => route.abort());
    for (const path of all) {
        await page.goto(path);
        await audit(page);
    }
});

test('no plain page has a finding', async ({ page, server }) => {
    await open(page, `/session/${await server.newSession()}`);
    await sendPlainly(page, 'word '.repeat(60_000));
    await expect(page.getByRole('heading', { name: 'Not sent' })).toBeVisible();
    await audit(page);
});

test.describe('where one must sign in', () => {
    test.use({ token: 'a-token-for-this-test' });

    test('the page to sign in has no finding, at first and after a wrong password', async ({ page }) => {
        await page.goto('/');
        await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
        await audit(page);
        await page.getByLabel('Password').fill('wrong');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await expect(page.getByRole('alert')).toBeVisible();
        await audit(page);
    });
});

test('no state of a conversation has a finding', async ({ page, server, context }) => {
    test.setTimeout(120_000);
    await open(page, '/');
    await audit(page);
    const id = await server.newSession();
    await open(page, `/session/${id}`);
    await send(page, '[[think Hm]][[say A few words]][[hang]]');
    await expect(answer(page)).toContainText('A few words');
    await page.getByText('Thinking').click();
    await send(page, 'Queued behind it');
    await expect(page.getByText('Queued', { exact: true })).toBeVisible();
    await audit(page);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(page.getByText('Stopped by you')).toBeVisible();
    await context.setOffline(true);
    await expect(page.getByRole('status').filter({ hasText: 'Offline' })).toBeVisible({ timeout: 40_000 });
    await send(page, 'In the air');
    await expect(page.getByText('Waiting to send')).toBeVisible();
    await audit(page);
});

test('focus goes along, and an answer is said when it is whole', async ({ page, server, isMobile }) => {
    const id = await server.newSession();
    await server.converse(id, '[[say Hello]]');
    await open(page, '/');
    await page.getByRole('navigation', { name: 'Conversations' }).locator('a.row').first().click();
    await expect(page.locator('#page')).toBeFocused();
    const log = page.getByRole('log');
    await expect(log).toHaveAttribute('aria-busy', 'false');
    await send(page, '[[say Some words]][[hang]]');
    await expect(answer(page)).toContainText('Some words');
    await expect(log).toHaveAttribute('aria-busy', 'true');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(log).toHaveAttribute('aria-busy', 'false');
    if (isMobile) {
        await page.getByRole('link', { name: 'All conversations' }).click();
        await expect(page.locator('.sidebar')).toBeFocused();
    }
});

test('a conversation by keyboard alone, with a reload in the middle', async ({ page, server, isMobile }) => {
    test.skip(isMobile, 'phones have no keyboard');
    await server.converse(await server.newSession(), '[[say Older]]');
    await open(page, '/');
    await page.keyboard.press('n');
    await page.waitForURL(/\/session\/\w+$/);
    const field = page.getByRole('textbox', { name: 'Message' });
    await expect(field).toBeVisible();
    for (let steps = 0; steps < 20 && !(await field.evaluate((it) => it === document.activeElement)); steps += 1) {
        await page.keyboard.press('Tab');
    }
    await expect(field).toBeFocused();
    await page.keyboard.type('Half a sen');
    await page.reload();
    await expect(field).toHaveValue('Half a sen');
    await field.focus();
    await page.keyboard.press('End');
    await page.keyboard.type('tence [[say Answered]]');
    await page.keyboard.press('Enter');
    await expect(answer(page)).toContainText('Answered');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await expect(page).toHaveURL('/');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await expect(answer(page)).toContainText('Older');
});

test('everything that can be touched is 44 pixels or more', async ({ page, server, isMobile }) => {
    test.skip(!isMobile, 'a mouse is more exact than a thumb');
    for (const path of await pages(server)) {
        await open(page, path);
        expect(await tooSmall(page), path).toEqual([]);
    }
});

/** Lists what is smaller than a thumb; links inside running text may be as high as their line. */
async function tooSmall(page: Page): Promise<string[]> {
    return page.evaluate(() => {
        const found: string[] = [];
        for (const element of document.querySelectorAll('a, button, summary, select, textarea, input')) {
            const target = element.closest('label') ?? element;
            const { width, height } = target.getBoundingClientRect();
            const hidden = width < 2 || height < 2 || !element.checkVisibility();
            if (hidden || element.closest('.prose, .skip')) continue;
            if (width < 43.5 || height < 43.5) {
                found.push(`${element.tagName} ${element.className} ${element.textContent}: ${Math.round(width)} by ${Math.round(height)}`);
            }
        }
        return found;
    });
}
