// Asks Lighthouse about the list and a conversation, on a phone and a desktop, and fails below 100:
//   cargo xtask build && cd end2end/lighthouse && npm install && npm start
// It is large and slow, so it is not part of the tests.

import { launch } from 'chrome-launcher';
import lighthouse from 'lighthouse';
import { Server } from '../support/server.ts';

const root = new URL('../..', import.meta.url).pathname;
process.env.THROUGHLINE_BIN ??= `${root}target/debug/throughline`;
process.env.THROUGHLINE_SITE ??= `${root}target/site/debug`;

const desktop = { mobile: false, width: 1280, height: 800, deviceScaleFactor: 1, disabled: false };
const server = new Server(0);
await server.start();
const id = await server.newSession();
await server.converse(id, '[[say ## Hello\n\nA [link](https://example.org).]][[table]][[code rust]][[tool list .]]');
const chrome = await launch({
    chromePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    chromeFlags: ['--headless=new', '--no-sandbox', '--disable-gpu'],
});
for (const path of ['/', `/session/${id}`]) {
    for (const formFactor of ['mobile', 'desktop'] as const) {
        const result = await lighthouse(server.base + path, {
            port: chrome.port,
            onlyCategories: ['accessibility', 'best-practices'],
            formFactor,
            screenEmulation: formFactor === 'desktop' ? desktop : undefined,
        });
        const scores = Object.values(result!.lhr.categories).map(({ id, score }) => ({ id, score: (score ?? 0) * 100 }));
        console.log(formFactor, path, scores.map((it) => `${it.id} ${it.score}`).join(', '));
        if (scores.some(({ score }) => score < 100)) process.exitCode = 1;
    }
}
chrome.kill();
await server.remove();
