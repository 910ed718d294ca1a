import { alive, answer, expect, newConversation, open, send, test } from '../support/test.ts';

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index + 1}`).join(' ');

test('a new conversation streams, survives a reload in the middle and comes to its end', async ({ page }) => {
    await newConversation(page);
    await send(page, '[[slow 200 40]]');
    await expect(page.getByRole('article', { name: 'You' })).toContainText('[[slow 200 40]]');
    await expect(answer(page)).toContainText('word8');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();

    const seen = (await answer(page).locator('.prose').innerText()).trim();
    await page.reload();
    await expect(answer(page)).toContainText(seen);
    await alive(page);
    await expect(answer(page)).toContainText('word200');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
    expect((await answer(page).locator('.prose').innerText()).trim()).toBe(words(200));
    await expect(page.getByRole('article')).toHaveCount(2);
});

test('what was streamed equals what a fresh page shows', async ({ page }) => {
    await newConversation(page);
    await send(page, 'Hello, what can you do?');
    await expect(page.locator('.usage')).toBeVisible();
    const streamed = await page.getByRole('log').innerText();
    await page.reload();
    await alive(page);
    expect(await page.getByRole('log').innerText()).toBe(streamed);
});

test('a question is answered with a button, and the answer stays visible', async ({ page }) => {
    await newConversation(page);
    await send(page, '[[tool run echo from the shell]]');
    const question = page.getByRole('region', { name: 'Question' });
    await expect(question).toContainText('echo from the shell');
    await page.reload();
    await alive(page);
    await question.getByRole('button', { name: 'Allow once' }).click();
    await expect(question).toContainText('Allow once');
    await expect(question.getByRole('button')).toHaveCount(0);
    await page.locator('summary', { hasText: 'run' }).click();
    await expect(answer(page)).toContainText('from the shell');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
});

test('Stop ends a turn that would never end', async ({ page }) => {
    await newConversation(page);
    await send(page, '[[say Here I am.]][[hang]]');
    await expect(answer(page)).toContainText('Here I am.');
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(answer(page)).toContainText('Stopped by you');
    await expect(page.getByRole('button', { name: 'Stop' })).toBeHidden();
});

test('an agent that fails or dies says so, and the next prompt works', async ({ page }) => {
    await newConversation(page);
    await send(page, '[[error The model is overloaded]]');
    await expect(answer(page)).toContainText('The model is overloaded');
    await send(page, '[[say Still here.]][[crash]]');
    await expect(answer(page)).toContainText('Stopped: the agent ended unexpectedly');
    await send(page, '[[say Back again.]]');
    await expect(answer(page)).toContainText('Back again.');
    await expect(answer(page)).not.toContainText('Stopped');
});

test('what was written and not sent waits in its conversation', async ({ page, server, isMobile }) => {
    const [one, two] = [await server.newSession(), await server.newSession()];
    const field = page.getByRole('textbox', { name: 'Message' });
    const go = async (id: string) => {
        if (isMobile) await page.getByRole('link', { name: 'All conversations' }).click();
        await page.locator(`.row[href="/session/${id}"]`).click();
        await page.waitForURL(`**/session/${id}`);
    };
    await open(page, `/session/${one}`);
    await field.fill('for one');
    await go(two);
    await expect(field).toHaveValue('');
    await field.fill('for two');
    await go(one);
    await expect(field).toHaveValue('for one');
    await go(two);
    await expect(field).toHaveValue('for two');
});

test('the page moves on with a conversation that is compressed', async ({ page }) => {
    await newConversation(page);
    await send(page, '[[say Before.]]');
    await expect(answer(page)).toContainText('Before.');
    const old = page.url();
    await send(page, '[[ask Ready? | Yes]][[compress]]');
    await page.getByRole('textbox', { name: 'Message' }).fill('half a thought');
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.waitForURL((url) => url.href !== old && url.pathname.startsWith('/session/'));
    await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('half a thought');
    await send(page, '[[say After.]]');
    await expect(answer(page)).toContainText('After.');
    await page.goto(old);
    await expect(answer(page)).toContainText('After.');
    expect(page.url()).not.toBe(old);
});

test('Enter sends on a desktop and makes a new line on a phone', async ({ page, isMobile }) => {
    await newConversation(page);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.fill('[[say Sent.]]');
    await field.press('Enter');
    if (isMobile) {
        await expect(field).toHaveValue('[[say Sent.]]\n');
    } else {
        await expect(answer(page)).toContainText('Sent.');
        await expect(field).toHaveValue('');
        await field.fill('one');
        await field.press('Shift+Enter');
        await expect(field).toHaveValue('one\n');
    }
});

test('the view follows the stream at the end and stays put elsewhere', async ({ page, server }) => {
    const id = await server.newSession();
    await server.converse(id, '[[long 30]]');
    await open(page, `/session/${id}`);
    const scroller = page.locator('.scroller');
    const fromEnd = () => scroller.evaluate((it) => Math.round(Math.abs(it.scrollTop)));
    expect(await fromEnd()).toBe(0);
    await send(page, '[[long 10]]');
    await expect(page.locator('.usage')).toHaveCount(2);
    expect(await fromEnd()).toBe(0);

    await scroller.evaluate((it) => it.scrollBy(0, -600));
    const line = answer(page).locator('.prose > *').first();
    const before = await line.boundingBox();
    await send(page, '[[slow 200 5]]');
    await expect(page.getByRole('button', { name: 'New messages' })).toBeVisible();
    await expect(page.locator('.usage')).toHaveCount(3);
    const reading = page.getByRole('article', { name: 'Agent' }).nth(1).locator('.prose > *').first();
    const after = await reading.boundingBox();
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2);
    await page.getByRole('button', { name: 'New messages' }).click();
    await expect.poll(fromEnd).toBe(0);
});

test('two conversations do not mix', async ({ page, server }) => {
    const [one, two] = [await server.newSession(), await server.newSession()];
    await open(page, `/session/${one}`);
    await send(page, '[[slow 40 20]]');
    await expect(answer(page)).toContainText('word3');
    await page.goto(`/session/${two}`);
    await alive(page);
    await send(page, '[[say only here]]');
    await expect(answer(page)).toContainText('only here');
    await expect(page.getByRole('log')).not.toContainText('word');
    await page.goto(`/session/${one}`);
    await expect(answer(page)).toContainText('word40');
    await expect(page.getByRole('log')).not.toContainText('only here');
});
