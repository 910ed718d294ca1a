import type { CDPSession, Page } from '@playwright/test';

/**
 * The longest tasks of a page, in milliseconds, by two measures. The browser reports long tasks of scripts, with the
 * time that other programs had meanwhile; a trace knows the time of a task itself, and has tasks that are not ours,
 * such as clearing memory up. What is long by both is ours.
 */
type Tasks = { reported: number; own: number };

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } };

const trace = (page: Page) => page.context().browser()?.startTracing(page, { categories: ['toplevel'] });

/** Notes every task of the page from its first moment on. */
export async function watchTasks(page: Page): Promise<void> {
    await page.addInitScript(() => {
        const reported: number[] = [];
        Object.assign(window, { reported });
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) reported.push(entry.duration);
        }).observe({ type: 'longtask', buffered: true });
    });
    await trace(page);
}

/** Gives the longest tasks since the last time. */
export async function tasks(page: Page): Promise<Tasks> {
    const traced = await page.context().browser()?.stopTracing();
    const reported = await page.evaluate(() => (window as unknown as { reported: number[] }).reported.splice(0));
    await trace(page);
    const { traceEvents } = JSON.parse(`${traced}`) as { traceEvents: TraceEvent[] };
    const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const named = traceEvents.filter((it) => it.name === 'thread_name' && it.args?.name === 'CrRendererMain');
    const pages = new Set(named.map(thread));
    const found = traceEvents.filter((it) => it.name === 'ThreadControllerImpl::RunTask' && pages.has(thread(it)));
    return { reported: Math.max(0, ...reported), own: found.reduce((most, it) => Math.max(most, it.tdur ?? 0), 0) / 1_000 };
}

/** How much slower the browser is made than the machine. */
const SLOWED = 4;

/** The longest that a page may keep a person waiting, in milliseconds. */
const LONGEST_TASK = 50;

/** Makes the browser slow, and lets it be looked into. */
export async function slowed(page: Page): Promise<CDPSession> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await session.send('HeapProfiler.enable');
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
    return session;
}

/** Prints whether a promise is kept. */
export function promise(kept: boolean, what: string, measured: string, required: string): void {
    console.log(`  ${kept ? 'PASS' : 'MISS'}  browser   ${what.padEnd(58)}${measured.padStart(11)}  (${required})`);
}

/** Prints the longest task since the last time, and holds it to the promise. */
export async function longest(page: Page, what: string): Promise<void> {
    const { reported, own } = await tasks(page);
    console.log(`  ${what}: ${reported.toFixed(0)} ms as reported, ${own.toFixed(0)} ms as traced`);
    const most = Math.min(reported, own);
    promise(most <= LONGEST_TASK, `longest task, ${what}`, most > 0 ? `${most.toFixed(0)} ms` : 'none', `at most ${LONGEST_TASK} ms`);
}

export type Memory = { heap: number; module: number; nodes: number; listeners: number };

/** Reads what the page holds after everything that nobody needs is gone. */
export async function memory(session: CDPSession): Promise<Memory> {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const metric = (name: string) => metrics.find((it) => it.name === name)?.value ?? 0;
    return {
        heap: metric('JSHeapUsedSize'),
        module: await moduleMemory(session),
        nodes: metric('Nodes'),
        listeners: metric('JSEventListeners'),
    };
}

/** Reads how much memory the browser module has taken; the heap of the page does not count it. */
async function moduleMemory(session: CDPSession): Promise<number> {
    const glue = "document.querySelector('link[rel=modulepreload]').href";
    const expression = `import(${glue}).then((it) => it.initSync().memory.buffer.byteLength)`;
    const { result } = await session.send('Runtime.evaluate', { expression, awaitPromise: true });
    return result.value;
}
