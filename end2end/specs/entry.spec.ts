import type { Page } from '@playwright/test';
import type { Server } from '../support/server.ts';
import { alive, answer, audit, expect, newConversation, open, send, test } from '../support/test.ts';

type Thread = {
    /** The ids that a person may still hold, oldest first; the last is the conversation itself. */
    ids: string[];
    says: string;
};

/** Makes a conversation of several parts; its newest answer names it. */
async function thread(server: Server, parts: number, says: string): Promise<Thread> {
    const ids = [await server.newSession()];
    // The first prompt names the conversation; searches below look for words inside it.
    await server.converse(ids[0], '[[say hello]]');
    for (let part = 1; part < parts; part += 1) {
        const old = await server.converse(ids[ids.length - 1], `[[say part ${part}]][[compress]]`);
        ids.push(old.continuation);
    }
    await server.converse(ids[ids.length - 1], `[[say ${says}]]`);
    return { ids, says };
}

const threads: Record<string, (server: Server) => Promise<Thread>> = {
    'a live conversation': (server) => thread(server, 1, 'the live one'),
    'an earlier part': (server) => thread(server, 2, 'the second part'),
    'the first of a chain of three earlier parts': (server) => thread(server, 4, 'the fourth part'),
    'an earlier part with a newer branch': async (server) => {
        const made = await thread(server, 2, 'not the branch');
        const fork = await server.json(`/api/sessions/${made.ids[0]}/fork`, {});
        await server.converse(fork.session_id, '[[say the branch]]');
        return made;
    },
};

/** The ways in that exist; each leaves the page on what it led to. */
const ways: Record<string, (page: Page, server: Server, id: string) => Promise<void>> = {
    route: (page, _, id) => open(page, `/session/${id}`),
    '?session=': (page, _, id) => open(page, `/?session=${id}`),
    '?session_id=': (page, _, id) => open(page, `/?session_id=${id}`),
    localStorage: async (page, _, id) => {
        await open(page, '/settings');
        await page.evaluate((focusedSessionId) => {
            const restore = { version: 1, focusedSessionId, activeSessionIds: [], drafts: {}, savedAt: 0 };
            localStorage.setItem('throughline.restore', JSON.stringify(restore));
        }, id);
        await page.goto('/');
    },
    'a link inside a message': async (page, server, id) => {
        const holder = await server.newSession();
        await server.converse(holder, `[[say [the thread](/session/${id})]]`);
        await open(page, `/session/${holder}`);
        await answer(page).getByRole('link', { name: 'the thread' }).click();
    },
    reload: async (page, _, id) => {
        await open(page, `/session/${id}`);
        await page.reload();
    },
};

/** Opens the row that a search for words finds, which may be an earlier part. */
async function bySearch(page: Page, words: string, id: string): Promise<void> {
    await open(page, '/settings');
    await page.evaluate(() => localStorage.removeItem('throughline.restore'));
    await open(page, '/');
    await page.getByRole('searchbox', { name: 'Search conversations' }).fill(words);
    await page.locator(`.row.found[href^="/session/${id}"]`).click();
}

async function expectOpen(page: Page, { ids, says }: Thread): Promise<void> {
    const id = ids[ids.length - 1];
    await expect(page).toHaveURL(new RegExp(`/session/${id}(\\?message=\\w+)?$`));
    await expect(answer(page)).toContainText(says);
    await alive(page);
    // On a phone the list is elsewhere while a conversation is read.
    const search = page.locator('.search input');
    if (await search.isVisible()) await search.clear();
    const selected = page.locator('.row[aria-current="page"]:not(.found)');
    await expect(selected).toHaveAttribute('href', `/session/${id}`);
    await expect(selected).toHaveCount(1);
}

for (const [name, make] of Object.entries(threads)) {
    test(`every way to ${name} opens the conversation`, async ({ page, server }) => {
        const made = await make(server);
        for (const [way, go] of Object.entries(ways)) {
            await test.step(way, async () => {
                await go(page, server, made.ids[0]);
                await expectOpen(page, made);
            });
        }
    });

    test(`a search for words of ${name} opens it at the right message`, async ({ page, server }) => {
        const made = await make(server);
        await bySearch(page, made.says, made.ids[made.ids.length - 1]);
        await expect(page.locator('[data-found]')).toContainText(made.says);
        await expectOpen(page, made);
        if (made.ids.length > 1) {
            await bySearch(page, 'part 1', made.ids[0]);
            await expect(page.locator('[data-found]')).toContainText('part 1');
            await expect(page.locator('[data-found]')).toBeInViewport();
            await expectOpen(page, made);
        }
    });

    test(`the sidebar shows ${name} once and opens it`, async ({ page, server }) => {
        const made = await make(server);
        await open(page, '/');
        for (const id of made.ids.slice(0, -1)) {
            await expect(page.locator(`.row[href="/session/${id}"]`)).toHaveCount(0);
        }
        await page.locator(`.row[href="/session/${made.ids[made.ids.length - 1]}"]`).click();
        await expectOpen(page, made);
    });
}

test.describe('what leads nowhere', () => {
    // The browser itself reports the status.
    test.use({ allowedInConsole: /Failed to (load resource|fetch)/ });

    for (const id of ['0123456789abcdef', '%3Cscript%3E', 'x'.repeat(200)]) {
        test(`an address with ${id.slice(0, 20)} says so and keeps what is remembered out of it`, async ({ page, server }) => {
            const made = await thread(server, 1, 'remembered');
            await open(page, `/session/${made.ids[0]}`);
            await open(page, `/session/${id}`);
            await expect(page.getByRole('heading', { name: 'This conversation is gone' })).toBeVisible();
            await expect(page.locator('.row[aria-current="page"]')).toHaveCount(0);
        });
    }

    test('what is no id at all is said to be gone by every way, and what is remembered stays out of it', async ({ page, server }) => {
        const made = await thread(server, 1, 'remembered');
        await open(page, `/session/${made.ids[0]}`);
        for (const address of ['/session/%3Cb%3E', '/?session=%3Cb%3E', '/?session_id=%3Cb%3E', `/?session_id=${'x'.repeat(200)}`]) {
            await test.step(address, async () => {
                await open(page, address);
                await expect(page.getByRole('heading', { name: 'This conversation is gone' })).toBeVisible();
                await expect(page.locator('.row[aria-current="page"]')).toHaveCount(0);
                await expect(page.getByRole('log')).toHaveCount(0);
            });
        }
    });

    test('a remembered conversation that is gone is forgotten quietly', async ({ page, server }) => {
        await ways.localStorage(page, server, 'gone');
        await alive(page);
        await expect.poll(() => page.evaluate(() => localStorage.getItem('throughline.restore'))).toContain('"focusedSessionId":null');
        await expect(page).toHaveURL(/\/$/);
    });
});

test.describe('an earlier part whose conversation is lost', () => {
    test('every way to it shows the record, never a page that says it is gone', async ({ page, server }) => {
        const made = await thread(server, 2, 'lost');
        await server.rewrite('DELETE FROM sessions WHERE session_id = ?', [made.ids[1]]);
        const id = made.ids[0];
        for (const [way, go] of Object.entries(ways)) {
            await test.step(way, async () => {
                await go(page, server, id);
                await expect(page).toHaveURL(new RegExp(`/archive/${id}$`));
                await expect(page.getByRole('article', { name: 'Agent' })).toContainText(['part 1']);
            });
        }
        await bySearch(page, 'part 1', id);
        await expect(page).toHaveURL(new RegExp(`/archive/${id}$`));
    });
});

test.describe('a deleted conversation', () => {
    test.use({ allowedInConsole: /Failed to (load resource|fetch)/ });

    test('is gone by every way, offers the remembered one, and comes back whole', async ({ page, server }) => {
        const made = await thread(server, 2, 'the second part');
        const other = await thread(server, 1, 'remembered');
        await open(page, `/session/${other.ids[0]}`);
        await server.delete(made.ids[1]);
        const { localStorage: _, ...byAddress } = ways;
        for (const [way, go] of Object.entries(byAddress)) {
            await test.step(way, async () => {
                await go(page, server, made.ids[0]);
                await alive(page);
                await expect(page.getByRole('heading', { name: 'This conversation is gone' })).toBeVisible();
                await expect(page.locator('.row[aria-current="page"]')).toHaveCount(0);
            });
        }
        await page.getByRole('link', { name: 'Go to the conversation you had open' }).click();
        await expect(page).toHaveURL(/\/session\//);
        await ways.localStorage(page, server, made.ids[0]);
        await alive(page);
        await expect.poll(() => page.evaluate(() => localStorage.getItem('throughline.restore'))).toContain('"focusedSessionId":null');
        await expect(page).toHaveURL(/\/$/);
        await expect(page.locator(`.row[href="/session/${made.ids[1]}"]`)).toHaveCount(0);

        await server.json(`/api/sessions/${made.ids[1]}/restore`, {});
        await open(page, `/session/${made.ids[0]}`);
        await expectOpen(page, made);
    });
});

test('nonsense in the storage is ignored', async ({ page }) => {
    await open(page, '/settings');
    for (const nonsense of ['{', '[]', '{"version":2}', '{"version":1,"drafts":7}']) {
        await page.evaluate((text) => localStorage.setItem('throughline.restore', text), nonsense);
        await open(page, '/');
        await expect(page).toHaveURL(/\/$/);
    }
});

test('an earlier part can be read as a record and leads back to the conversation', async ({ page, server }) => {
    const made = await thread(server, 2, 'the second part');
    await open(page, `/archive/${made.ids[0]}`);
    await expect(page.getByRole('article', { name: 'Agent' })).toContainText(['part 1']);
    await expect(page.getByRole('textbox')).toHaveCount(0);
    await page.getByRole('link', { name: 'Go to the conversation' }).click();
    await expectOpen(page, made);
    await open(page, `/archive/${made.ids[1]}`);
    await expectOpen(page, made);
});

test('Back still works after an address was corrected', async ({ page, server }) => {
    const made = await thread(server, 2, 'the second part');
    await open(page, '/settings');
    const holder = await server.newSession();
    await server.converse(holder, `[[say [the thread](/session/${made.ids[0]})]]`);
    await open(page, `/session/${holder}`);
    await answer(page).getByRole('link', { name: 'the thread' }).click();
    await expectOpen(page, made);
    await page.goBack();
    await expect(page).toHaveURL(new RegExp(`/session/${holder}$`));
});

test('what is written while a conversation is compressed elsewhere lands in the continuation', async ({ page, server, context }) => {
    await newConversation(page);
    await send(page, '[[say Hello.]]');
    await expect(answer(page)).toContainText('Hello.');
    const id = new URL(page.url()).pathname.split('/').pop() as string;
    // The phone sleeps: nothing reaches the page.
    await context.setOffline(true);
    const old = await server.converse(id, '[[compress]]');
    await context.setOffline(false);
    await send(page, '[[say After the nap.]]');
    await expect(page).toHaveURL(new RegExp(`/session/${old.continuation}$`));
    await expect(answer(page)).toContainText('After the nap.');
    const tip = await server.json(`/api/sessions/${old.continuation}`);
    const prompts = tip.messages.filter((message: any) => JSON.stringify(message.parts).includes('After the nap'));
    expect(prompts.filter((message: any) => message.role === 'user')).toHaveLength(1);
});

test('what is typed while the continuation is being opened is there when it is open', async ({ page, server }) => {
    await newConversation(page);
    await send(page, '[[say Hello.]]');
    await expect(answer(page)).toContainText('Hello.');
    const id = new URL(page.url()).pathname.split('/').pop() as string;
    await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') });
    await expect(page.getByRole('button', { name: 'Remove notes.txt' })).toBeVisible();
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.pressSequentially('Half a ');
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const asked = page.waitForRequest('**/fn/open_session');
    await page.route('**/fn/open_session', async (route) => {
        await held;
        await route.continue();
    });
    const old = await server.converse(id, '[[compress]]');
    await asked;
    await field.pressSequentially('thought');
    release();
    await expect(page).toHaveURL(new RegExp(`/session/${old.continuation}$`));
    await expect(page.getByRole('article', { name: 'Summary of the earlier part' })).toBeVisible();
    await expect(field).toHaveValue('Half a thought');
    await expect(field).toBeFocused();
    await expect(page.getByRole('button', { name: 'Remove notes.txt' })).toBeVisible();
});

test('a tab in the background follows a compression, and what is typed next lands in the continuation', async ({ page, server, context }) => {
    await newConversation(page);
    await send(page, '[[say Hello.]]');
    await expect(answer(page)).toContainText('Hello.');
    const id = new URL(page.url()).pathname.split('/').pop() as string;
    const front = await context.newPage();
    await front.goto('about:blank');
    await front.bringToFront();
    const old = await server.converse(id, '[[compress]]');
    await page.bringToFront();
    await send(page, '[[say Back in front.]]');
    await expect(page).toHaveURL(new RegExp(`/session/${old.continuation}$`));
    await expect(answer(page)).toContainText('Back in front.');
});

test('what happened while nobody looked is marked until it is opened', async ({ page, server }) => {
    const id = await server.newSession();
    await server.converse(id, '[[say unseen]]');
    await open(page, '/');
    const row = page.locator(`.row[href="/session/${id}"]`);
    await expect(row.locator('.badge')).toHaveText('New');
    await audit(page);
    await row.click();
    await expect(answer(page)).toContainText('unseen');
    await expect(row.locator('.badge')).toHaveCount(0);
});

test('a draft survives a reload', async ({ page }) => {
    await newConversation(page);
    await page.getByRole('textbox', { name: 'Message' }).fill('not yet');
    await page.reload();
    await alive(page);
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('not yet');
    await expect(page.getByRole('button', { name: 'Send' })).toBeEnabled();
});

test('a branch goes on by itself, and the history shows parts and branches', async ({ page, server }) => {
    const made = await thread(server, 2, 'the second part');
    await open(page, `/session/${made.ids[1]}`);
    const last = page.getByRole('article', { name: 'Agent' }).last();
    await last.hover();
    await last.getByRole('button', { name: 'Branch from here' }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/session/') && !url.pathname.endsWith(made.ids[1]));
    await expect(answer(page)).toContainText('the second part');
    await send(page, '[[say only in the branch]]');
    await expect(answer(page)).toContainText('only in the branch');

    await open(page, `/session/${made.ids[0]}`);
    await expectOpen(page, made);
    await page.getByText('History').click();
    await expect(page.getByRole('link', { name: 'Part 2, this page' })).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Branches' })).toBeVisible();
    await audit(page);
    await page.locator('.timeline-entry', { hasText: /^Part 1/ }).click();
    await expect(page).toHaveURL(new RegExp(`/archive/${made.ids[0]}$`));
    await expect(page.getByText('This is an earlier part of a conversation.')).toBeVisible();
    await audit(page);
});
