import { answer, audit, expect, newConversation, open, send, test } from '../support/test.ts';

test('the list shows what each conversation does, and opens it', async ({ page, server, isMobile }) => {
    const quiet = await server.newSession();
    await server.converse(quiet, 'Weekend plans');
    const asking = await server.newSession();
    await open(page, '/');
    const rows = page.getByRole('navigation').getByRole('listitem');
    await expect(rows).toHaveCount(2);
    await server.json('/api/chat/start', { turn_id: 'ask', session_id: asking, content: '[[ask Which one? | Left | Right]]' });
    await expect(rows.first()).toContainText('Waiting for you');
    await rows.filter({ hasText: 'Weekend plans' }).getByRole('link').click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Weekend plans');
    await expect(answer(page)).toBeVisible();
    if (isMobile) {
        await page.getByRole('link', { name: 'All conversations' }).click();
        await expect(rows.first()).toBeVisible();
        expect(new URL(page.url()).pathname).toBe('/');
    }
});

test('a chosen theme stays, without a flash', async ({ page }) => {
    await open(page, '/settings');
    await page.getByRole('radio', { name: 'Dark' }).check();
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    const document = await (await page.request.get('/')).text();
    expect(document).toContain('data-theme="dark"');
    await page.reload();
    await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked();
});

test.describe('what does not exist', () => {
    // The browser itself reports the status.
    test.use({ allowedInConsole: /Failed to (load resource|fetch)/ });

    test('an address without a page says so and comes alive', async ({ page }) => {
        await open(page, '/nowhere');
        await expect(page.getByRole('heading', { name: 'There is no such page' })).toBeVisible();
        await page.getByRole('link', { name: 'All conversations' }).click();
        await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
    });

    test('a conversation that is gone says so and offers the list', async ({ page, server }) => {
        const id = await server.newSession();
        await open(page, `/session/${id}`);
        await page.evaluate(() => {
            const link = document.createElement('a');
            link.href = '/session/gone';
            link.id = 'gone';
            document.querySelector('main')?.prepend(link);
            link.textContent = 'gone';
        });
        await page.locator('#gone').click();
        await expect(page.getByRole('heading', { name: 'This conversation is gone' })).toBeVisible();
        await page.getByRole('main').getByRole('link', { name: 'All conversations' }).click();
        expect(new URL(page.url()).pathname).toBe('/');
    });
});

test.describe('no accessibility finding', () => {
    for (const path of ['/', '/settings']) {
        test(`on ${path}`, async ({ page }) => {
            await open(page, path);
            await audit(page);
        });
    }

    test('on a conversation with everything in it', async ({ page, server }) => {
        const id = await server.newSession();
        await server.converse(id, 'Hello, what can you do?');
        await server.converse(id, '[[error It broke]]');
        await server.converse(id, '[[plan One | Two]][[image]][[table]][[long 6]]');
        await open(page, `/session/${id}`);
        await audit(page);
    });

    test('on a conversation that asks, with all folds open', async ({ page }) => {
        await newConversation(page);
        await send(page, '[[think Hm.]][[tool list .]][[ask Which one? | Left | Right]]');
        await expect(page.getByRole('region', { name: 'Question' })).toBeVisible();
        for (const summary of await page.locator('summary').all()) await summary.click();
        await audit(page);
    });
});

test('nothing is wider than the screen', async ({ page, server }) => {
    const id = await server.newSession();
    await server.converse(id, `[[say ${'unbroken'.repeat(60)}]][[table]][[code rust]]`);
    for (const path of ['/', '/settings', `/session/${id}`]) {
        await open(page, path);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, path).toBeLessThanOrEqual(0);
    }
});

test('everything that is touched is large enough', async ({ page, isMobile }) => {
    test.skip(!isMobile, 'touch only');
    await newConversation(page);
    await send(page, '[[code rust]][[ask Which one? | Left | Right]]');
    await expect(page.getByRole('region', { name: 'Question' })).toBeVisible();
    for (const target of await page.locator('button:visible, a:visible, summary:visible, textarea:visible').all()) {
        const box = await target.boundingBox();
        const name = await target.evaluate((it) => it.outerHTML.slice(0, 80));
        if (!box || (await target.getAttribute('class')) === 'skip') continue;
        expect(Math.round(box.height), name).toBeGreaterThanOrEqual(44);
    }
});
