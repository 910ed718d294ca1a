// Opens the app without a network. The build puts in the version and the list of files.
//
// Files with a hash in their name never change, so they come from the cache. Pages come from the
// network whenever it answers; the cache is what is left when it does not. What signs in, what
// changes something and what belongs to others is never touched.

const VERSION = '__VERSION__';
const FILES = __FILES__;
const FILE_CACHE = `files-${VERSION}`;
const PAGE_CACHE = `pages-${VERSION}`;

/** How many pages and answers are kept, the newest of them. */
const MOST_KEPT = 80;
const LARGEST_PICTURE = 300_000;
/** How long the network may take before a kept page is shown instead. */
const PATIENCE = 4000;

/** Functions of the app that only read. */
const READS = /^\/fn\/(open_session|inspect_session|list_sessions|overview|list|children|trees|timeline|about|offer)$/;
const PAGES = /^\/($|session\/|archive\/|settings$|new$|recovery$)/;

addEventListener('install', (event) => {
    skipWaiting();
    event.waitUntil(install());
});

addEventListener('activate', (event) => event.waitUntil(activate()));

addEventListener('message', (event) => {
    if (typeof event.data === 'string' && PAGES.test(event.data)) event.waitUntil(keepPage(event.data).catch(() => {}));
});

addEventListener('fetch', (event) => {
    const { request } = event;
    const url = new URL(request.url);
    if (url.origin !== location.origin) return;
    if (request.method === 'POST') {
        if (url.pathname === '/logout') event.waitUntil(forget());
        else if (READS.test(url.pathname)) event.respondWith(read(event));
    } else if (request.method === 'GET') {
        if (request.mode === 'navigate') {
            if (PAGES.test(url.pathname)) event.respondWith(page(event, url));
        } else if (url.pathname.startsWith('/pkg/') || FILES.includes(url.pathname)) {
            event.respondWith(file(request));
        } else if (url.pathname.startsWith('/api/blobs/')) {
            event.respondWith(picture(event));
        }
    }
});

async function install() {
    const files = await caches.open(FILE_CACHE);
    await files.addAll(FILES);
    await keepPage('/');
    // What could be read before an update can be read after it.
    for (const name of await named('pages-')) {
        if (name === PAGE_CACHE) continue;
        for (const { url } of await (await caches.open(name)).keys()) {
            const { pathname } = new URL(url);
            if (PAGES.test(pathname)) await keepPage(pathname).catch(() => {});
        }
    }
}

/** Lets go of older versions, but for the files of the last one: a page of it may still be open. */
async function activate() {
    const files = (await named('files-')).filter((name) => name !== FILE_CACHE);
    const pages = (await named('pages-')).filter((name) => name !== PAGE_CACHE);
    await Promise.all([...files.slice(0, -1), ...pages].map((name) => caches.delete(name)));
    await clients.claim();
}

async function named(prefix) {
    return (await caches.keys()).filter((name) => name.startsWith(prefix));
}

async function file(request) {
    return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

async function page(event, { pathname }) {
    const fetched = fetch(event.request);
    const kept = await (await caches.open(PAGE_CACHE)).match(pathname, { ignoreVary: true });
    try {
        const response = await (kept ? Promise.race([fetched, timeout()]) : fetched);
        if (isPage(response)) event.waitUntil(keep(pathname, response.clone()));
        return response;
    } catch (error) {
        fetched.catch(() => {});
        return kept ?? nothing(error);
    }
}

function timeout() {
    return new Promise((_, reject) => setTimeout(reject, PATIENCE, new Error('too slow')));
}

/** A page that leads elsewhere, such as to signing in, is not the page that was asked for. */
function isPage(response) {
    return response.ok && response.type === 'basic' && !response.redirected;
}

/** Leads to the list where nothing better is known; without that, the browser says what is wrong. */
async function nothing(error) {
    if (await (await caches.open(PAGE_CACHE)).match('/', { ignoreVary: true })) return Response.redirect('/', 302);
    throw error;
}

/** Answers a function that reads, from the network or as it was answered last. */
async function read(event) {
    const { request } = event;
    const key = keyOf(request.url, await request.clone().text());
    try {
        const response = await fetch(request);
        if (response.ok) event.waitUntil(keep(key, response.clone()));
        if (response.status === 401) event.waitUntil(forget());
        return response;
    } catch (error) {
        const kept = await (await caches.open(PAGE_CACHE)).match(key, { ignoreVary: true });
        if (kept) return kept;
        throw error;
    }
}

function keyOf(address, body) {
    return `${new URL(address, location.origin).pathname}?${encodeURIComponent(body)}`;
}

async function picture(event) {
    const kept = await caches.match(event.request, { ignoreVary: true });
    if (kept) return kept;
    const response = await fetch(event.request);
    const size = Number(response.headers.get('content-length') ?? Infinity);
    const shown = response.headers.get('content-type')?.startsWith('image/');
    if (response.ok && shown && size <= LARGEST_PICTURE) {
        event.waitUntil(keep(new URL(event.request.url).pathname, response.clone()));
    }
    return response;
}

/** Fetches a page as it is now, and what the app would ask for to show it. */
async function keepPage(pathname) {
    const response = await fetch(pathname);
    if (isPage(response)) await keep(pathname, response);
    const id = pathname.match(/^\/session\/([^/]+)$/)?.[1];
    if (!id) return;
    const body = JSON.stringify({ requested: id, before: null });
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const answer = await fetch('/fn/open_session', { method: 'POST', headers, body });
    if (answer.ok) await keep(keyOf('/fn/open_session', body), answer);
}

async function keep(key, response) {
    const cache = await caches.open(PAGE_CACHE);
    await cache.put(key, response);
    const keys = await cache.keys();
    await Promise.all(keys.slice(0, Math.max(0, keys.length - MOST_KEPT)).map((old) => cache.delete(old)));
}

/** Forgets everything that was read here. */
async function forget() {
    await Promise.all((await named('pages-')).map((name) => caches.delete(name)));
}
