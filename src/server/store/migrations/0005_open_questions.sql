-- A question that outlived the server which asked it is found without looking at any other message.
CREATE INDEX messages_waiting ON messages (session_id) WHERE state = 'waiting';
