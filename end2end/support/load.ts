import type { CDPSession, Page } from '@playwright/test';

/** A task that kept the page busy, and how much of that time was its own: on a busy machine, others have some of it. */
type Task = { wall: number; own: number };

type TraceEvent = { name: string; pid: number; tid: number; dur?: number; tdur?: number; args?: { name?: string } };

/** Notes every task of the page from now on. */
export async function watchTasks(page: Page): Promise<void> {
    await page.context().browser()?.startTracing(page, { categories: ['toplevel'] });
}

/** Gives the tasks of the page since the last time, the longest first. */
export async function tasks(page: Page): Promise<Task[]> {
    const trace = await page.context().browser()?.stopTracing();
    await watchTasks(page);
    const { traceEvents } = JSON.parse(`${trace}`) as { traceEvents: TraceEvent[] };
    const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const named = traceEvents.filter((it) => it.name === 'thread_name' && it.args?.name === 'CrRendererMain');
    const pages = new Set(named.map(thread));
    const found = traceEvents.filter((it) => it.name === 'ThreadControllerImpl::RunTask' && pages.has(thread(it)));
    const milliseconds = (it: TraceEvent) => ({ wall: (it.dur ?? 0) / 1_000, own: (it.tdur ?? it.dur ?? 0) / 1_000 });
    return found.map(milliseconds).sort((one, other) => other.own - one.own);
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
    const all = await tasks(page);
    const most = all[0]?.own ?? 0;
    const wall = Math.max(0, ...all.map((task) => task.wall));
    console.log(`  ${what}: ${all.length} tasks, ${wall.toFixed(0)} ms at most with what others did meanwhile`);
    promise(most <= LONGEST_TASK, `longest task, ${what}`, `${most.toFixed(0)} ms`, `at most ${LONGEST_TASK} ms`);
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
