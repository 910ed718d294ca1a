import { readFileSync } from 'node:fs';
import { expect, open, test } from '../support/test.ts';

type Case = { name: string; rows: unknown[]; complete: boolean; requested: string | null; inspect: boolean; expect: unknown };

const cases: Case[] = JSON.parse(readFileSync(new URL('../../tests/fixtures/resolution.json', import.meta.url), 'utf8'));

test('the browser resolves every case as the server does', async ({ page, isMobile }) => {
    test.skip(isMobile, 'the same module on both');
    expect(cases.length).toBeGreaterThanOrEqual(60);
    await open(page, '/');
    const answers = await page.evaluate(async (cases) => {
        const glue = document.querySelector('link[rel=modulepreload]')?.getAttribute('href') ?? '';
        const { resolve_rows } = await import(glue);
        const resolve = (it: (typeof cases)[number]) =>
            resolve_rows(JSON.stringify(it.rows), it.requested ?? undefined, it.inspect, it.complete);
        return Promise.all(cases.map(resolve));
    }, cases);
    for (const [place, answer] of answers.entries()) {
        expect(JSON.parse(answer), cases[place].name).toEqual(cases[place].expect);
    }
});
