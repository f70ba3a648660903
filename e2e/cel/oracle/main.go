// The API server's own CEL as a filter: one JSON question on each line of stdin, one answer on each line of stdout.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"github.com/google/cel-go/interpreter"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type question struct {
	Schema  json.RawMessage `json:"schema"`
	Rule    string          `json:"rule"`
	Self    json.RawMessage `json:"self"`
	OldSelf json.RawMessage `json:"oldSelf"`
	// IsText asks for the expression as a messageExpression, which gives a text.
	IsText bool `json:"isText"`
}

type answer struct {
	CompileError string  `json:"compileError,omitempty"`
	MaxCost      float64 `json:"maxCost"`
	Value        any     `json:"value,omitempty"`
	Error        string  `json:"error,omitempty"`
	Cost         uint64  `json:"cost"`
}

type activation struct{ self, oldSelf any }

func (a activation) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		return a.self, true
	case "oldSelf":
		return a.oldSelf, a.oldSelf != nil
	}
	return nil, false
}

func (a activation) Parent() interpreter.Activation { return nil }

var selfType = regexp.MustCompile(`selfType\d+`)

func ask(q question) (result answer) {
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Error: fmt.Sprint("panic: ", problem)}
		}
	}()
	var external apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(q.Schema, &external); err != nil {
		return answer{CompileError: "schema: " + err.Error()}
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		return answer{CompileError: "schema: " + err.Error()}
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return answer{CompileError: "schema: " + err.Error()}
	}
	rule := apiextensionsv1.ValidationRule{Rule: q.Rule}
	if q.IsText {
		rule = apiextensionsv1.ValidationRule{Rule: "true", MessageExpression: q.Rule}
	}
	structural.XValidations = apiextensionsv1.ValidationRules{rule}
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	compiled, err := cel.Compile(structural, model.SchemaDeclType(structural, false), celconfig.PerCallLimit, base, cel.NewExpressionsEnvLoader())
	if err != nil {
		return answer{CompileError: err.Error()}
	}
	first := compiled[0]
	if first.Error != nil {
		return answer{CompileError: selfType.ReplaceAllString(first.Error.Detail, "selfType")}
	}
	program := first.Program
	result.MaxCost = float64(first.MaxCost)
	if q.IsText {
		if first.MessageExpressionError != nil {
			return answer{CompileError: selfType.ReplaceAllString(first.MessageExpressionError.Detail, "selfType")}
		}
		program, result.MaxCost = first.MessageExpression, float64(first.MessageExpressionMaxCost)
	}
	var self, oldSelf any
	if err := utiljson.Unmarshal(q.Self, &self); err != nil {
		return answer{Error: "self: " + err.Error()}
	}
	vars := activation{self: cel.UnstructuredToVal(self, structural)}
	if len(q.OldSelf) > 0 {
		if err := utiljson.Unmarshal(q.OldSelf, &oldSelf); err != nil {
			return answer{Error: "oldSelf: " + err.Error()}
		}
		vars.oldSelf = cel.UnstructuredToVal(oldSelf, structural)
	}
	value, details, err := program.ContextEval(context.Background(), vars)
	if details != nil && details.ActualCost() != nil {
		result.Cost = *details.ActualCost()
	}
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Value = value.Value()
	return result
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		var q question
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			a = answer{Error: "question: " + err.Error()}
		} else {
			a = ask(q)
		}
		text, _ := json.Marshal(a)
		out.Write(text)
		out.WriteByte('\n')
		out.Flush()
	}
}
