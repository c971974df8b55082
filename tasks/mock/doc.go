// Package mock answers tasks from a file instead of calling their services: the mocked service integrations of Step
// Functions Local (MockConfigFile.json). A test case of a state machine determines which states are mocked and with
// which responses. The responses of a state are numbered by its invocations within one execution, whether these are
// retries, iterations of a Map or passes of a loop. States that a test case does not list call their services.
// Responses are not validated against the services' models.
package mock
