// A small agent that speaks ACP: it has a mode and two commands, says what it was told, and remembers a talk.
import { createInterface } from 'node:readline';

let mode = 'careful';
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, content) => send({ method: 'session/update', params: { sessionId, update: content } });

const modes = () => ({
    currentModeId: mode,
    availableModes: [{ id: 'careful', name: 'Careful' }, { id: 'bold', name: 'Bold' }],
});

for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    if (method === 'session/new') {
        send({ id, result: { sessionId: 'one', modes: modes() } });
        const availableCommands = [
            { name: 'compact', description: 'Makes room.' },
            { name: 'review', description: 'Looks at changes.' },
        ];
        update('one', { sessionUpdate: 'available_commands_update', availableCommands });
    } else if (method === 'session/prompt') {
        const text = `In ${mode} mode: ${params.prompt.at(-1).text}`;
        update(params.sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
        send({ id, result: { stopReason: 'end_turn' } });
    } else if (method === 'session/list') {
        const { cwd } = params;
        const sessions = [{ sessionId: 'shed', cwd, title: 'Paint the shed', updatedAt: '2026-01-02T03:04:05Z' }];
        send({ id, result: { sessions } });
    } else if (method === 'session/load') {
        const say = (sessionUpdate, text) => update(params.sessionId, { sessionUpdate, content: { type: 'text', text } });
        say('user_message_chunk', 'Which colour for the shed?');
        say('agent_message_chunk', 'Green, as the **door** is.');
        send({ id, result: { modes: modes() } });
    } else if (id !== undefined) {
        if (method === 'session/set_mode') mode = params.modeId;
        const agentCapabilities = { loadSession: true, sessionCapabilities: { list: {} } };
        send({ id, result: method === 'initialize' ? { protocolVersion: 1, agentCapabilities } : {} });
    }
}
