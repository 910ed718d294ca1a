import type { Page } from '@playwright/test';
import { list, more } from '../support/list.ts';
import type { Server } from '../support/server.ts';
import { answer, expect, open, send, sendPlainly, test } from '../support/test.ts';

// PICTURES names the folder. Those that the documents show are chosen from it by hand.
const folder = process.env.PICTURES ?? 'test-results/pictures';

test.use({ allowedInConsole: /./, pace: 0 });

const LONG_LINE = 'let everything_in_one_line = first.and_then(|value| second(value)).map(third).filter(fourth).unwrap_or_default();';
const TABLE = `| ${Array.from({ length: 12 }, (_, at) => `column ${at}`).join(' | ')} |\n|${'---|'.repeat(12)}\n`
    + Array.from({ length: 6 }, (_, row) => `| ${Array.from({ length: 12 }, (_, at) => `value ${row}.${at}`).join(' | ')} |`).join('\n');

async function shoot(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.screenshot({ path: `${folder}/${test.info().project.name}-${name}-${colorScheme}.png` });
    }
}

async function told(server: Server, title: string, prompt: string): Promise<string> {
    const id = await server.newSession();
    await server.converse(id, prompt);
    await fetch(`${server.base}/api/sessions/${id}`, {
        method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ title }),
    });
    return id;
}

test('every page and state', async ({ page, server, context }) => {
    await open(page, '/');
    await shoot(page, 'empty');
    const rich = await told(server, 'Counting words', 'How would I count the words of a text?');
    const code = await told(server, 'One very long line', `[[say \`\`\`rust\n${LONG_LINE}\n\`\`\`\n\nand in the text: \`${LONG_LINE}\`]]`);
    const table = await told(server, 'A wide table', `[[say ${TABLE}]]`);
    const arabic = await told(server, 'مرحبا بالعالم', '[[say ## مرحبا\n\nهذا نص من اليمين إلى اليسار، مع `code` و **غامق**.\n\n- واحد\n- اثنان]]');
    const failed = await told(server, 'It broke', '[[say The first half of an answer]][[error The model is overloaded]]');
    const long = await told(server, 'A title that is much longer than any row of the list can show on one line', '[[long 12]]');
    await server.converse(long, '[[compress]]');
    const { sessions } = await server.json('/api/sessions?view=all');
    const record = sessions.find((row: { pre_compression_snapshot: boolean }) => row.pre_compression_snapshot);
    const asking = await server.newSession();
    await server.prompt(asking, 'Which database? [[ask Which database should it be? | SQLite | PostgreSQL | Neither]]');
    const planning = await told(server, 'Plan of the day', '[[plan Look around | Ask | Tidy up]]Done.');
    const working = await server.newSession();
    await server.prompt(working, 'Write about rivers. [[say A river begins somewhere, and for a long time nobody can say where. Then it has]][[hang]]');
    const shots: [string, string][] = [
        ['/', 'list'], [`/session/${rich}`, 'conversation'], [`/session/${code}`, 'long-code'], [`/session/${table}`, 'long-table'],
        [`/session/${arabic}`, 'right-to-left'], [`/session/${failed}`, 'error'], [`/session/${asking}`, 'question'],
        [`/session/${planning}`, 'plan'], [`/session/${working}`, 'streaming'], [`/archive/${record.session_id}`, 'archive'],
        ['/new', 'new'], ['/settings', 'settings'], ['/recovery', 'recovery'], ['/nowhere', 'not-found'], ['/session/gone', 'gone'],
    ];
    for (const [path, name] of shots) {
        await open(page, path);
        await shoot(page, name);
    }
    await open(page, `/session/${rich}`);
    await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
    await shoot(page, 'zoomed');
    await open(page, `/session/${long}`);
    await page.getByText('History').click();
    await shoot(page, 'history');
    // The plain address leads back to what was read last.
    await open(page, '/?view=current');
    const dialog = await more(page, rich);
    await shoot(page, 'actions');
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await expect(list(page)).toContainText('Conversation archived.');
    await shoot(page, 'undo');
    await list(page).getByRole('button', { name: 'Undo' }).click();
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.keyboard.type('river');
    await expect(page.getByRole('dialog')).toContainText('rivers');
    await shoot(page, 'palette');
    await open(page, '/?view=current');
    await page.route('**/fn/**', () => {});
    await list(page).locator(`.row[href="/session/${rich}"]`).click();
    await expect(page.getByRole('main')).toContainText('Opening');
    await shoot(page, 'loading');
    await page.unroute('**/fn/**');
    await open(page, `/session/${rich}`);
    await sendPlainly(page, 'Far too much. '.repeat(20_000));
    await expect(page.getByRole('heading', { name: 'Not sent' })).toBeVisible();
    await shoot(page, 'not-sent');
    await open(page, `/session/${rich}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('A draft\nof several lines\nthat is still being written');
    await shoot(page, 'writing');
    await context.setOffline(true);
    await expect(page.getByRole('status').filter({ hasText: 'Offline' })).toBeVisible({ timeout: 40_000 });
    await send(page, 'Sent in the air');
    await expect(page.getByText('Waiting to send')).toBeVisible();
    await shoot(page, 'offline');
    await expect(answer(page)).toBeVisible();
});

test.describe('where one must sign in', () => {
    test.use({ token: 'a-token-for-this-test' });

    test('the page to sign in', async ({ page, token }) => {
        await page.goto('/');
        await shoot(page, 'login');
        await page.getByLabel('Password').fill('not it');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await shoot(page, 'login-refused');
        await page.getByLabel('Password').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await open(page, '/settings');
        await shoot(page, 'devices');
    });
});
