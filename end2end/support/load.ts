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
    const { result } = await session.send('Runtime.evaluate', { expression: 'WebAssembly.Memory.prototype' });
    const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId! });
    const sum = 'function () { return this.reduce((sum, it) => sum + it.buffer.byteLength, 0); }';
    const read = await session.send('Runtime.callFunctionOn', {
        objectId: objects.objectId!, functionDeclaration: sum, returnByValue: true,
    });
    await session.send('Runtime.releaseObject', { objectId: objects.objectId! });
    return read.result.value;
}
