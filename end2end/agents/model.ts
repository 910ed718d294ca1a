import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Plan = { text: string; delay: number; tool?: { name: string; input: string } };
type Asked = { prompt: string; result?: string; tools: string[] };

/**
 * A model on this machine that does what the last prompt says:
 * `[[say TEXT]]`, `[[slow]]`, `[[tool NAME {json}]]`; it answers in the three ways agents ask in.
 */
export class Model {
    private server?: Server;
    base = '';

    async start(): Promise<void> {
        const server = createServer((request, response) => void this.answer(request, response));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        this.server = server;
        this.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    stop(): void {
        this.server?.closeAllConnections();
        this.server?.close();
    }

    private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
        const path = (request.url ?? '').split('?')[0];
        let raw = '';
        for await (const piece of request) raw += piece;
        if (request.method === 'GET') {
            const data = ['mock-1'].map((id) => ({ id, object: 'model', created: 1, owned_by: 'here', type: 'model' }));
            return json(response, { object: 'list', data, models: [] });
        }
        const body = JSON.parse(raw || '{}');
        if (path.endsWith('/chat/completions')) return chat(body, response);
        if (path.endsWith('/responses')) return responses(body, response);
        if (path.endsWith('/count_tokens')) return json(response, { input_tokens: 100 });
        if (path.endsWith('/messages')) return messages(body, response);
        response.writeHead(404).end();
    }
}

function json(response: ServerResponse, value: unknown): void {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function flat(content: any): string {
    if (typeof content === 'string') return content;
    const parts = Array.isArray(content) ? content : content ? [content] : [];
    return parts.map((part: any) => (typeof part === 'string' ? part : (part.text ?? flat(part.content ?? part.output)))).join('\n');
}

function plan({ prompt, result, tools }: Asked): Plan {
    // What is to be summed up may quote any of what follows.
    if (/\bsummar(y|ize)\b/i.test(prompt)) return { text: 'They talked, and used a tool.', delay: 1 };
    const wanted = /\[\[tool (\S+) (\{.*?\})\]\]/s.exec(prompt);
    if (wanted && result === undefined) {
        const name = tools.find((tool) => tool.toLowerCase().endsWith(wanted[1].toLowerCase())) ?? wanted[1];
        return { text: 'I use a tool. ', delay: 1, tool: { name, input: wanted[2] } };
    }
    if (wanted) return { text: `It gave: ${result?.slice(0, 300)}`, delay: 1 };
    if (prompt.includes('[[slow]]')) {
        return { text: Array.from({ length: 400 }, (_, place) => `word${place}`).join(' '), delay: 100 };
    }
    const said = /\[\[say (.*?)\]\]/s.exec(prompt);
    return { text: said ? said[1] : `You said: ${prompt.replace(/\s+/g, ' ').slice(-120)}`, delay: 1 };
}

function pieces(text: string): string[] {
    return text.match(/\S+\s*|\s+/g) ?? [''];
}

async function pause(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Streams events until the one who asked is gone. */
function stream(response: ServerResponse): (event: string | undefined, data: unknown) => boolean {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return (event, data) => {
        if (response.destroyed) return false;
        response.write(`${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
        return true;
    };
}

async function chat(body: any, response: ServerResponse): Promise<void> {
    const asked: Asked = { prompt: '', tools: (body.tools ?? []).map((tool: any) => tool.function?.name ?? '') };
    for (const message of body.messages ?? []) {
        if (message.role === 'user') Object.assign(asked, { prompt: flat(message.content), result: undefined });
        if (message.role === 'tool') asked.result = flat(message.content) || '(nothing)';
    }
    const { text, delay, tool } = plan(asked);
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const call = tool && { id: `call_${Date.now()}`, type: 'function', function: { name: tool.name, arguments: tool.input } };
    const reason = call ? 'tool_calls' : 'stop';
    const base = { id: `chat-${Date.now()}`, created: 1, model: body.model };
    if (!body.stream) {
        const message = { role: 'assistant', content: text, ...(call && { tool_calls: [call] }) };
        return json(response, { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage });
    }
    const tell = stream(response);
    const delta = (piece: unknown, finish: string | null = null) =>
        tell(undefined, { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta: piece, finish_reason: finish }] });
    delta({ role: 'assistant', content: '' });
    for (const content of pieces(text)) {
        if (!delta({ content })) return;
        await pause(delay);
    }
    if (call) delta({ tool_calls: [{ index: 0, ...call }] });
    delta({}, reason);
    tell(undefined, { ...base, object: 'chat.completion.chunk', choices: [], usage });
    tell(undefined, '[DONE]');
    response.end();
}

async function responses(body: any, response: ServerResponse): Promise<void> {
    const asked: Asked = { prompt: '', tools: (body.tools ?? []).map((tool: any) => tool.name ?? tool.type) };
    for (const item of body.input ?? []) {
        const text = flat(item.content);
        const person = (item.type ?? 'message') === 'message' && item.role === 'user';
        if (person && !/^\s*<(environment_context|user_instructions)>/.test(text)) Object.assign(asked, { prompt: text, result: undefined });
        if (String(item.type).endsWith('call_output')) asked.result = flat(item.output) || JSON.stringify(item.output);
    }
    const { text, delay, tool } = plan(asked);
    const usage = {
        input_tokens: 100, input_tokens_details: { cached_tokens: 0 },
        output_tokens: 10, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 110,
    };
    const whole = { id: `resp_${Date.now()}`, object: 'response', created_at: 1, status: 'in_progress', model: body.model, output: [] as unknown[] };
    const message = { id: `msg_${Date.now()}`, type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] };
    const call = tool && { id: `fc_${Date.now()}`, type: 'function_call', status: 'completed', call_id: `call_${Date.now()}`, name: tool.name, arguments: tool.input };
    const output = call ? [message, call] : [message];
    if (!body.stream) return json(response, { ...whole, status: 'completed', output, usage });
    const tell = stream(response);
    const event = (type: string, rest: object) => tell(type, { type, ...rest });
    event('response.created', { response: whole });
    event('response.output_item.added', { output_index: 0, item: { ...message, status: 'in_progress', content: [] } });
    event('response.content_part.added', { item_id: message.id, output_index: 0, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } });
    for (const piece of pieces(text)) {
        if (!event('response.output_text.delta', { item_id: message.id, output_index: 0, content_index: 0, delta: piece })) return;
        await pause(delay);
    }
    output.forEach((item, place) => event('response.output_item.done', { output_index: place, item }));
    event('response.completed', { response: { ...whole, status: 'completed', output, usage } });
    response.end();
}

async function messages(body: any, response: ServerResponse): Promise<void> {
    const asked: Asked = { prompt: '', tools: (body.tools ?? []).map((tool: any) => tool.name) };
    for (const message of (body.messages ?? []).filter((it: any) => it.role === 'user')) {
        const parts: any[] = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
        const results = parts.filter((part) => part.type === 'tool_result');
        const words = parts.filter((part) => part.type === 'text' && !part.text.trimStart().startsWith('<system-reminder>'));
        if (results.length) asked.result = flat(results) || '(nothing)';
        else if (words.length) Object.assign(asked, { prompt: flat(words), result: undefined });
    }
    const { text, delay, tool } = plan(asked);
    const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10 };
    const call = tool && { type: 'tool_use', id: `toolu_${Date.now()}`, name: tool.name, input: JSON.parse(tool.input) };
    const reason = call ? 'tool_use' : 'end_turn';
    const whole = { id: `msg_${Date.now()}`, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage };
    if (!body.stream) return json(response, { ...whole, content: [{ type: 'text', text }, ...(call ? [call] : [])], stop_reason: reason });
    const tell = stream(response);
    const event = (type: string, rest: object) => tell(type, { type, ...rest });
    event('message_start', { message: whole });
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    for (const piece of pieces(text)) {
        if (!event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } })) return;
        await pause(delay);
    }
    event('content_block_stop', { index: 0 });
    if (call) {
        event('content_block_start', { index: 1, content_block: { ...call, input: {} } });
        event('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: tool.input } });
        event('content_block_stop', { index: 1 });
    }
    event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage });
    event('message_stop', {});
    response.end();
}
