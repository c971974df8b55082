package intrinsic

import (
	"stepback/aws"
	"stepback/jsonvalue"
)

// uuid implements States.UUID: a version 4 UUID (RFC 9562) from two draws.
func uuid(_ []jsonvalue.Value, env Env) (jsonvalue.Value, error) {
	return jsonvalue.OfString(aws.DrawUUID(env.Random)), nil
}
