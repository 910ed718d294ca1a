import { expect, test } from '../support/test.ts';

// What is preloaded for the script is not used without it, and the browser says so.
test.use({ allowedInConsole: /was preloaded using link preload but not used/ });

test('the list and a whole conversation can be read', async ({ page, server }) => {
    const id = await server.newSession();
    for (const number of [1, 2, 3]) await server.converse(id, `[[say **Answer ${number}**]]`);
    await page.goto('/');
    await page.getByRole('navigation').getByRole('listitem').getByRole('link').click();
    await expect(page.getByRole('article', { name: 'Agent' })).toHaveText([/Answer 1/, /Answer 2/, /Answer 3/]);
    await expect(page.getByRole('article', { name: 'Agent' }).last().locator('strong')).toBeInViewport();
});

test('the archived conversations can be read', async ({ page, server }) => {
    const [kept, away] = [await server.newSession(), await server.newSession()];
    await server.patch(away, { archived: true });
    await page.goto('/');
    await page.getByRole('link', { name: /^Archived/ }).click();
    await expect(page).toHaveURL(/\/\?view=archived$/);
    await expect(page.locator(`.row[href="/session/${away}"]`)).toBeVisible();
    await expect(page.locator(`.row[href="/session/${kept}"]`)).toHaveCount(0);
});

test('a new conversation can be started', async ({ page }) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'New conversation', exact: true }).click();
    await expect(page).toHaveURL(/\/session\/\w+$/);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('New conversation');
});

test('settings are a whole page', async ({ page }) => {
    await page.goto('/settings');
    await expect(page.getByRole('heading', { name: 'Agents' })).toBeVisible();
});

test.describe('what does not exist', () => {
    // The browser itself reports the status 404.
    test.use({ allowedInConsole: /Failed to (load resource|fetch)|was preloaded/ });

    test('is a whole page too', async ({ page }) => {
        await page.goto('/session/gone');
        await expect(page.getByRole('heading', { name: 'This conversation is gone' })).toBeVisible();
        await page.goto('/nowhere');
        await expect(page.getByRole('heading', { name: 'There is no such page' })).toBeVisible();
    });
});

test('a prompt is sent by a plain form, once', async ({ page, server }) => {
    const id = await server.newSession();
    await page.goto(`/session/${id}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('[[say Heard you.]]\nand a second line');
    const action = await page.locator('form.composer').getAttribute('action');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect(page).toHaveURL(`/session/${id}`);
    await expect(page.getByRole('article', { name: 'You' })).toContainText('and a second line');
    // Back and Send again, as an impatient reader does.
    const again = await page.request.post(server.base + action, { form: { content: '[[say Heard you.]]\nand a second line' } });
    expect(again.ok()).toBe(true);
    await expect.poll(async () => (await server.json(`/api/sessions/${id}`)).turn_id).toBeNull();
    expect((await server.json(`/api/sessions/${id}`)).messages).toHaveLength(2);
    await page.reload();
    await expect(page.getByRole('article', { name: 'Agent' })).toContainText('Heard you.');
});

test.describe('a message that is refused', () => {
    test.use({ allowedInConsole: /Failed to load resource|was preloaded using link preload but not used/ });

    test('is given back with the reason, and goes out once it is shorter', async ({ page, server }) => {
        const id = await server.newSession();
        await page.goto(`/session/${id}`);
        const long = 'word '.repeat(60_000);
        await page.getByRole('textbox', { name: 'Message' }).fill(long);
        await page.getByRole('button', { name: 'Send' }).click();
        await expect(page.getByRole('heading', { name: 'Not sent' })).toBeVisible();
        await expect(page.getByRole('alert')).toHaveText('This message is too long: 256 kB is the most.');
        const field = page.getByRole('textbox', { name: 'Your message' });
        await expect(field).toHaveValue(long);
        await field.fill('[[say Short.]]');
        await page.getByRole('button', { name: 'Send again' }).click();
        await expect(page).toHaveURL(`/session/${id}`);
        await expect.poll(async () => (await server.json(`/api/sessions/${id}`)).turn_id).toBeNull();
        await page.reload();
        await expect(page.getByRole('article', { name: 'Agent' })).toContainText('Short.');
        await expect(page.getByRole('article')).toHaveCount(2);
    });
});

test.describe('where one must sign in', () => {
    test.use({ token: 'a-token-for-this-test', allowedInConsole: /Failed to (load resource|fetch)|was preloaded/ });

    test('a reader signs in, and is where they wanted to be', async ({ page, server, token }) => {
        const id = await server.newSession();
        await server.converse(id, '[[say Kept from strangers]]');
        await page.goto(`/session/${id}`);
        await expect(page).toHaveURL(`/login?next=/session/${id}`);
            await page.getByLabel('Password').fill('a wrong guess');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await expect(page.getByRole('alert')).toHaveText('That is not the password.');
            await page.getByLabel('Password').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await expect(page).toHaveURL(`/session/${id}`);
        await expect(page.getByRole('article', { name: 'Agent' })).toContainText('Kept from strangers');
        await page.goto('/settings');
        await expect(page.getByRole('heading', { name: 'Signed-in devices' })).toBeVisible();
            await page.getByRole('button', { name: /^Sign out/ }).click();
        await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible();
        await page.goto('/');
        await expect(page).toHaveURL('/login');
    });
});
