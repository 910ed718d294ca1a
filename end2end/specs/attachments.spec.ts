import { answer, audit, expect, newConversation, send, test } from '../support/test.ts';

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

test('files go along with a prompt, and stay with it', async ({ page }) => {
    await newConversation(page);
    await page.getByLabel('Attach files').setInputFiles([
        { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL },
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('remember') },
        { name: 'oops.txt', mimeType: 'text/plain', buffer: Buffer.from('not this one') },
    ]);
    const chosen = page.getByRole('list', { name: 'Attached files' });
    await expect(chosen.getByRole('listitem')).toHaveCount(3);
    await audit(page);
    await chosen.getByRole('button', { name: 'Remove oops.txt' }).click();
    await send(page, 'Look at these');
    await expect(chosen).toBeHidden();
    await expect(answer(page)).toContainText('pixel.png');
    await page.reload();
    const prompt = page.getByRole('article', { name: 'You', exact: true });
    await expect(prompt.getByRole('img', { name: 'pixel.png' })).toBeVisible();
    await expect(prompt.getByRole('link', { name: 'notes.txt' })).toBeVisible();
    await expect(prompt).not.toContainText('oops');
});

test('a chosen file is still there after a look elsewhere', async ({ page }) => {
    await newConversation(page);
    await page.getByLabel('Attach files').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') });
    const chosen = page.getByRole('button', { name: 'Remove notes.txt' });
    await expect(chosen).toBeVisible();
    await page.goBack();
    await expect(chosen).toHaveCount(0);
    await page.goForward();
    await expect(chosen).toBeVisible();
});

test.describe('what cannot be attached', () => {
    test.use({ allowedInConsole: /Failed to (load resource|fetch)/ });

    test('is refused in plain words, and the text stays', async ({ page }) => {
        await newConversation(page);
        await page.getByLabel('Attach files').setInputFiles({ name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) });
        await expect(page.getByRole('alert')).toContainText('empty');
        await page.getByLabel('Attach files').setInputFiles({ name: 'fake.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
        await expect(page.getByRole('list', { name: 'Attached files' })).toContainText('fake.png');
        await send(page, 'my words');
        await expect(page.getByRole('alert')).toContainText('fake.png is not a PNG');
        await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('my words');
        await expect(page.getByRole('button', { name: 'Remove fake.png' })).toBeVisible();
    });
});
