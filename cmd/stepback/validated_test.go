package main

const (
	accepted = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	refused  = "{\"StartAt\": \"P\",\n \"States\": {\n  \"P\": {\"Type\": \"Pass\", \"Nxt\": \"Q\"}}}"
)
