import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';

/** Prints one row an agent and one column a thing that was tried. */
export default class Table implements Reporter {
    private readonly rows = new Map<string, Map<string, string>>();

    onTestEnd(test: TestCase, result: TestResult): void {
        const [agent, tried] = test.titlePath().slice(-2);
        const row = this.rows.get(agent) ?? new Map<string, string>();
        const seconds = `${(result.duration / 1000).toFixed(1)} s`;
        row.set(tried, result.status === 'passed' ? seconds : result.status === 'skipped' ? 'not there' : 'FAILED');
        this.rows.set(agent, row);
        if (result.error) console.error(`${agent}, ${tried}: ${result.error.message}\n${result.error.snippet ?? ''}`);
    }

    onEnd(): void {
        const columns = [...new Set([...this.rows.values()].flatMap((row) => [...row.keys()]))];
        const lines = [...this.rows].map(([agent, row]) => [agent, ...columns.map((column) => row.get(column) ?? '')]);
        const all = [['agent', ...columns], ...lines];
        const widths = all[0].map((_, place) => Math.max(...all.map((line) => line[place].length)));
        for (const line of all) console.log(line.map((cell, place) => cell.padEnd(widths[place])).join('  '));
    }
}
