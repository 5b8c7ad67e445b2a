-- Names that look alike are found by what people see in them.
CREATE INDEX agents_look ON agents (replace(replace(replace(replace(replace(rtrim(agent, '._-'), '0', 'o'), '1', 'l'), 'i', 'l'), 'rn', 'm'), 'vv', 'w'));
