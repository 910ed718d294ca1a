import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';

/** One real server with a data directory and a workspace of its own. */
export class Server {
    readonly folder = mkdtempSync(join(tmpdir(), 'throughline-'));
    base = '';
    /** Another build of the browser's files than the one under test. */
    site = process.env.THROUGHLINE_SITE;
    private child?: ChildProcess;
    private readonly pace: number;
    private readonly token: string;

    /** The file that names agents, where there is one. */
    config?: string;

    /** The agent of conversations that name none. */
    agent = 'demo';

    /** Takes the milliseconds between two words of the demo agent, and a token where one must sign in. */
    constructor(pace: number, token = '') {
        this.pace = pace;
        this.token = token;
    }

    /** Starts over a copy of a data directory that was filled before. */
    async startOver(data: string): Promise<void> {
        cpSync(data, join(this.folder, 'data'), { recursive: true });
        await this.start();
    }

    async start(): Promise<void> {
        const workspace = join(this.folder, 'workspace');
        mkdirSync(workspace, { recursive: true });
        writeFileSync(join(workspace, 'notes.txt'), 'remember the milk\n');
        const binary = process.env.THROUGHLINE_BIN;
        if (!binary) throw new Error('THROUGHLINE_BIN must name the server: run `cargo xtask test`');
        // A server that comes back answers where the page expects it.
        const address = this.base ? new URL(this.base).host : '127.0.0.1:0';
        const child = spawn(
            binary,
            ['serve', '--addr', address, '--data-dir', join(this.folder, 'data'), '--workspace', workspace, '--demo-pace', `${this.pace}`],
            // Whatever else this machine has to offer.
            {
                stdio: ['ignore', 'pipe', 'inherit'],
                env: {
                    ...process.env,
                    THROUGHLINE_AGENT: this.agent,
                    THROUGHLINE_FIND_MODELS: 'false',
                    ...(this.config && { THROUGHLINE_CONFIG: this.config }),
                    ...(this.site && { THROUGHLINE_SITE: this.site }),
                    ...(this.token && { THROUGHLINE_TOKEN: this.token }),
                },
            },
        );
        this.child = child;
        this.base = await new Promise<string>((resolve, reject) => {
            child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
            child.stdout.once('data', (line: Buffer) => resolve(String(line).trim().replace(/^.* at /, '')));
        });
    }

    /** Ends the server as a power cut would. */
    async kill(): Promise<void> {
        const child = this.child;
        if (!child || child.exitCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await ended;
    }

    /** Lets the server come to an orderly end, as Ctrl-C does. */
    async stop(): Promise<void> {
        const child = this.child;
        if (!child || child.exitCode !== null) return;
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
    }

    /** Changes stored rows as an older version or an import might have left them. */
    async rewrite(statement: string, values: string[]): Promise<void> {
        await this.stop();
        const path = join(this.folder, 'data', 'throughline.db');
        // The library cannot read write-ahead mode; after an orderly end the log is empty.
        const file = openSync(path, 'r+');
        writeSync(file, Buffer.from([1, 1]), 0, 2, 18);
        closeSync(file);
        const database = new sqlite.Database(path);
        database.run(statement, values);
        database.close();
        await this.start();
    }

    async remove(): Promise<void> {
        await this.kill();
        // An agent may still write its last words.
        rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }

    async json(path: string, body?: unknown): Promise<any> {
        const authorization = this.token && { authorization: `Bearer ${this.token}` };
        const request = body === undefined ? { headers: { ...authorization } } : {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...authorization },
            body: JSON.stringify(body),
        };
        const response = await fetch(this.base + path, request);
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return response.json();
    }

    async newSession(): Promise<string> {
        return (await this.json('/api/sessions/new', {})).session_id;
    }

    async delete(sessionId: string): Promise<void> {
        const response = await fetch(`${this.base}/api/sessions/${sessionId}`, { method: 'DELETE' });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    }

    /** Changes title, pin or archive mark. */
    async patch(sessionId: string, change: unknown): Promise<void> {
        const response = await fetch(`${this.base}/api/sessions/${sessionId}`, {
            method: 'PATCH',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(change),
        });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    }

    async prompt(sessionId: string, content: string): Promise<void> {
        await this.json('/api/chat/start', { turn_id: crypto.randomUUID(), session_id: sessionId, content });
    }

    /** Sends a prompt and waits until it is answered. */
    async converse(sessionId: string, content: string): Promise<any> {
        await this.prompt(sessionId, content);
        for (;;) {
            const transcript = await this.json(`/api/sessions/${sessionId}`);
            if (transcript.turn_id === null) return transcript;
        }
    }
}
