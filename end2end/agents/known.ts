import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Known = {
    id: string;
    /** Lines of `throughline.toml` for it. */
    lines: string[];
    environment: Record<string, string>;
    /** What must be chosen about it before it asks for permission. */
    choose?: string;
    /** What makes the model run a command, in the words of the agent's own tools. */
    command: (line: string) => string;
};

const installed = process.env.THROUGHLINE_AGENTS ?? '';
const program = (name: string) => join(installed, 'node_modules', '.bin', name);

/** Makes the agents that are installed ready to ask the given model, each in a home of its own. */
export function known(base: string, home: string): Known[] {
    mkdirSync(home, { recursive: true });
    const all = [goose, codex, pi, claude, opencode].map((of) => of(base, join(home, of.name)));
    return all.filter((it): it is Known => it !== undefined);
}

/** Names the agents that are installed. */
export function names(): string[] {
    const home = mkdtempSync(join(tmpdir(), 'throughline-agents-'));
    const found = known('', home).map((agent) => agent.id);
    rmSync(home, { recursive: true, force: true });
    return found;
}

function goose(base: string, home: string): Known | undefined {
    const command = join(installed, 'node_modules', '@aaif', 'goose-binary-linux-x64', 'bin', 'goose');
    if (!existsSync(command)) return undefined;
    return {
        id: 'goose',
        lines: [`command = ${JSON.stringify(command)}`],
        environment: {
            HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home,
            GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'mock-1', OPENAI_API_KEY: 'none', OPENAI_HOST: base,
            GOOSE_MODE: 'approve', GOOSE_DISABLE_KEYRING: '1',
        },
        command: (line) => `[[tool shell ${JSON.stringify({ command: line })}]]`,
    };
}

function codex(base: string, home: string): Known | undefined {
    if (!existsSync(program('codex-acp'))) return undefined;
    mkdirSync(home, { recursive: true });
    const provider = `[model_providers.here]\nname = "here"\nbase_url = "${base}/v1"\nwire_api = "responses"\nenv_key = "HERE_KEY"\n`;
    writeFileSync(join(home, 'config.toml'), `model = "mock-1"\nmodel_provider = "here"\napproval_policy = "on-request"\nsandbox_mode = "read-only"\n\n${provider}`);
    return {
        id: 'codex',
        lines: [`command = ${JSON.stringify(program('codex-acp'))}`],
        environment: { CODEX_HOME: home, HOME: home, HERE_KEY: 'none', OPENAI_API_KEY: 'none' },
        choose: 'Read-only',
        command: (line) => `[[tool exec_command ${JSON.stringify({ cmd: line, sandbox_permissions: 'require_escalated', justification: 'It writes' })}]]`,
    };
}

function pi(base: string, home: string): Known | undefined {
    const node = join(installed, 'node_modules', 'node', 'bin', 'node');
    const script = program('pi');
    if (!existsSync(script) || !existsSync(node)) return undefined;
    mkdirSync(home, { recursive: true });
    const models = [{ id: 'mock-1', name: 'Mock', reasoning: false, input: ['text'], contextWindow: 128000, maxTokens: 8000, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }];
    const provider = { baseUrl: `${base}/v1`, api: 'openai-completions', apiKey: 'none', models };
    writeFileSync(join(home, 'models.json'), JSON.stringify({ providers: { here: provider } }));
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ defaultProvider: 'here', defaultModel: 'mock-1', compaction: { keepRecentTokens: 1 } }));
    const asks = join(home, 'asks.ts');
    writeFileSync(asks, `export default function (pi: any) {
    pi.on('tool_call', async (event: any, context: any) => {
        if (event.toolName !== 'bash') return;
        const allowed = await context.ui.confirm('Run command?', event.input.command);
        if (!allowed) return { block: true, reason: 'The person said no' };
    });
}
`);
    return {
        id: 'pi',
        lines: [`command = ${JSON.stringify(node)}`, `arguments = ${JSON.stringify([script, '-e', asks])}`],
        environment: { PI_CODING_AGENT_DIR: home, HOME: home, PI_OFFLINE: '1' },
        command: (line) => `[[tool bash ${JSON.stringify({ command: line })}]]`,
    };
}

function claude(base: string, home: string): Known | undefined {
    if (!existsSync(program('claude-agent-acp'))) return undefined;
    return {
        id: 'claude',
        lines: [`command = ${JSON.stringify(program('claude-agent-acp'))}`],
        environment: { HOME: home, CLAUDE_CONFIG_DIR: home, ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: 'none', IS_SANDBOX: '1' },
        command: (line) => `[[tool Bash ${JSON.stringify({ command: line })}]]`,
    };
}

function opencode(base: string, home: string): Known | undefined {
    if (!existsSync(program('opencode'))) return undefined;
    const provider = { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${base}/v1`, apiKey: 'none' }, models: { 'mock-1': {} } };
    const settings = { model: 'here/mock-1', provider: { here: provider }, permission: { bash: 'ask' }, autoupdate: false };
    return {
        id: 'opencode',
        lines: [`command = ${JSON.stringify(program('opencode'))}`],
        environment: { HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) },
        command: (line) => `[[tool bash ${JSON.stringify({ command: line, description: 'Writes a word' })}]]`,
    };
}
