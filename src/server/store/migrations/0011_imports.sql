-- A conversation that an agent remembers is found by the agent's own name for it.
CREATE INDEX sessions_by_agent_session ON sessions (agent, agent_session)
    WHERE agent_session IS NOT NULL;
