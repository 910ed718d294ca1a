import type { CDPSession, Page } from '@playwright/test';

/** A task that kept the page from answering for more than 50 ms. */
export type LongTask = { at: number; milliseconds: number };

/** Notes every long task of the page from its first moment on. */
export async function watchTasks(page: Page): Promise<void> {
    await page.addInitScript(() => {
        const tasks: LongTask[] = [];
        Object.assign(window, { longTasks: tasks });
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) tasks.push({ at: entry.startTime, milliseconds: entry.duration });
        }).observe({ type: 'longtask', buffered: true });
    });
}

/** Gives the long tasks since the last time. */
export async function longTasks(page: Page): Promise<LongTask[]> {
    return page.evaluate(() => (window as unknown as { longTasks: LongTask[] }).longTasks.splice(0));
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
    const tasks = await longTasks(page);
    const most = Math.max(0, ...tasks.map((task) => task.milliseconds));
    console.log(`  ${what}: ${tasks.length} long tasks`);
    promise(most <= LONGEST_TASK, `longest task, ${what}`, most > 0 ? `${most} ms` : 'none', `at most ${LONGEST_TASK} ms`);
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
