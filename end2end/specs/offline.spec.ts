import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { alive, answer, expect, open, send, test } from '../support/test.ts';

test.use({
    serviceWorkers: 'allow',
    allowedInConsole: /WebSocket connection to .* failed|Failed to (load resource|fetch)|ERR_INTERNET_DISCONNECTED/,
});

/** Waits until the service worker has the page in hand. */
async function installed(page: Page): Promise<void> {
    await page.evaluate(async () => {
        await navigator.serviceWorker.ready;
        if (!navigator.serviceWorker.controller) {
            await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
        }
    });
}

test('in the air: open from the home screen, read, write; landed: it goes out once', async ({ page, server, context }) => {
    const first = await server.newSession();
    await server.converse(first, '[[say Read me in the **air**]]');
    const second = await server.newSession();
    await server.converse(second, '[[say The other one]]');
    await open(page, '/');
    await installed(page);
    await open(page, `/session/${first}`);
    // Inside the app, where no page is fetched.
    await open(page, '/settings');
    await page.evaluate((path) => {
        const link = document.createElement('a');
        link.href = path;
        document.querySelector('main')?.prepend(link);
        link.click();
    }, `/session/${second}`);
    await expect(answer(page)).toContainText('The other one');
    await page.close();

    await context.setOffline(true);
    const later = await context.newPage();
    await later.goto(`${server.base}/`);
    await alive(later);
    await expect(later.getByRole('status').filter({ hasText: 'Offline' })).toBeVisible();
    const rows = later.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem');
    await expect(rows).toHaveCount(2);
    await later.goto(`${server.base}/session/${first}`);
    await alive(later);
    await expect(answer(later).locator('strong')).toHaveText('air');
    await send(later, '[[say Landed]]');
    await expect(later.getByText('Waiting to send')).toBeVisible();

    // Opened in the app before, never as a page.
    await later.evaluate((path) => {
        const link = document.createElement('a');
        link.href = path;
        document.querySelector('main')?.prepend(link);
        link.click();
    }, `/session/${second}`);
    await expect(answer(later)).toContainText('The other one');

    await context.setOffline(false);
    await expect.poll(async () => (await server.json(`/api/sessions/${first}`)).messages.length).toBe(4);
    await later.goto(`${server.base}/session/${first}`);
    await expect(answer(later)).toContainText('Landed');
    await expect(later.getByText('Waiting to send')).toBeHidden();
    expect((await server.json(`/api/sessions/${first}`)).messages).toHaveLength(4);
});

test('the app can be installed', async ({ page, server }) => {
    await open(page, '/');
    await installed(page);
    const session = await page.context().newCDPSession(page);
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
    // Every browser of a test counts as a private one, which alone stands in the way.
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito']);
    const manifest = await (await fetch(`${server.base}/manifest.webmanifest`)).json();
    for (const { src, sizes } of manifest.icons) {
        const response = await fetch(server.base + src);
        expect(response.ok, `${src} ${sizes}`).toBe(true);
    }
    expect(manifest.icons.some((icon: { purpose: string }) => icon.purpose === 'maskable')).toBe(true);
});

test('what must not be kept is not, and signing out forgets the rest', async ({ page, server }) => {
    const id = await server.newSession();
    await server.converse(id, '[[say Private]]');
    await open(page, '/');
    await installed(page);
    await open(page, `/session/${id}`);
    await page.evaluate(() => fetch('/api/sessions'));
    const kept = () => page.evaluate(async () => {
        const paths: string[] = [];
        for (const name of await caches.keys()) {
            for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
        }
        return paths;
    });
    await expect.poll(kept).toContain(`/session/${id}`);
    for (const path of await kept()) expect(path).toMatch(/^\/($|pkg\/|session\/|fn\/|icon|manifest|pwa)/);
    await page.evaluate(() => fetch('/logout', { method: 'POST' }).catch(() => {}));
    await expect.poll(kept).not.toContain(`/session/${id}`);
    expect(await kept()).not.toContain('/');
});

test('an update takes over at once, and what could be read still can', async ({ page, server, context }) => {
    const site = process.env.THROUGHLINE_SITE;
    test.skip(!site, 'the files of this build are inside the binary');
    const id = await server.newSession();
    await server.converse(id, '[[say Before the update]]');
    await open(page, '/');
    await installed(page);
    await open(page, `/session/${id}`);
    const kept = () => page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('pages-')));
    const [old] = await kept();

    server.site = join(server.folder, 'site');
    cpSync(site!, server.site, { recursive: true });
    const worker = join(server.site, 'sw.js');
    writeFileSync(worker, readFileSync(worker, 'utf8').replace(old.replace('pages-', ''), 'newer'));
    const manifest = join(server.site, 'assets.json');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/("path":\s*"\/sw.js"[^}]*"etag":\s*)"[^,]*/, '$1"\\"newer\\""'));
    await server.stop();
    await server.start();
    await server.converse(id, '[[say After the update]]');

    await open(page, `/session/${id}`);
    await expect(answer(page)).toContainText('After the update');
    await page.evaluate(async () => (await navigator.serviceWorker.ready).update());
    await expect.poll(kept).toEqual(['pages-newer']);
    await context.setOffline(true);
    await open(page, `/session/${id}`);
    await expect(answer(page)).toContainText('After the update');
});
