package expression

import "stepback/local/services/dynamodb/item"

// mistake is a kind of mistake in an expression that can be read. Of several that DynamoDB would tell, it tells the
// first one in this order.
type mistake int

const (
	redundantParentheses mistake = iota
	reservedUpdate               // reserved words of updates and projections come before unknown functions
	unknownFunction
	misusedFunction
	reservedCondition
	repeatedSection
	undefinedName
	undefinedValue
	overlap
	conflict
	wrongOperand
	inCondition // of what one condition has, the first one again
	mistakes
)

// note keeps the first mistake of its kind.
func (p *parser) note(m mistake, message string) {
	if p.noted[m] == "" {
		p.noted[m] = item.Invalid(message)
	}
}
