// Command golden asks the Go implementation what it makes of quantities, selectors and pairs of objects, and writes the answers as the
// tables that apimachinery's tests compare with. Run: go run ./golden -out ../../packages/apimachinery/test/golden
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/inf.v0"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// answer is what Go makes of one text: its canonical form, or a failure.
type answer struct {
	Text string `json:"text"`
	// Printed is empty where Go refuses the text.
	Printed string `json:"printed,omitempty"`
	// Stored is the text that an object keeps, and Nanos the value in billionths, of a quantity.
	Stored string `json:"stored,omitempty"`
	Nanos  string `json:"nanos,omitempty"`
	// Message says why a quantity is refused.
	Message string `json:"message,omitempty"`
	Refused bool   `json:"refused,omitempty"`
	// Matches are the indices of the label sets that the selector matches.
	Matches []int `json:"matches,omitempty"`
}

func main() {
	log.SetFlags(0)
	out := flag.String("out", ".", "directory to write to")
	flag.Parse()
	write(*out, "quantities.json", quantities())
	write(*out, "label-selectors.json", map[string]any{"labelSets": labelSets, "cases": labelSelectors()})
	write(*out, "field-selectors.json", fieldSelectors())
	write(*out, "strategic-patches.json", strategicPatches(*out))
}

func write(directory, name string, value any) {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, name), append(text, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}

func quantities() []answer {
	numbers := []string{"0", "1", "2", "7", "8", "10", "12", "100", "500", "999", "1000", "1023", "1024", "1025", "1536", "2048",
		"9007199254740993", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890",
		"0.5", "1.5", "0.25", "0.025", "0.001", "0.0000000001", "1.0000000001", "100.035", "3.001", "1.", ".5", "00012", "007.50", "-1", "-0.5", "-1.5", "+3"}
	suffixes := []string{"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e3", "E3", "e-3", "e+6", "E18", "e2", "e-9", "e-12"}
	var texts []string
	for _, number := range numbers {
		for _, suffix := range suffixes {
			texts = append(texts, number+suffix)
		}
	}
	texts = append(texts, "", " ", "1 ", " 1", "1.1.1", "1+1", "1i", "1mi", "1K", "1am", "aoeu", ".5i", "-3.01e-", "1e", "1e3.5", "--1", "1ki", "0x10", "1,5", "1_000", "NaN", "Infinity", "-", "+")
	// Texts without digits, which the parser takes for zero or not by the way it takes, and forms that only it knows.
	for _, sign := range []string{"", "+", "-"} {
		for _, number := range []string{"", ".", "0", "00", "0.", ".0", "1.500", "7.000", "001", "+1", "1.", "8", "123456789012345678", "1234567890123456789", "0.5000000005"} {
			for _, suffix := range []string{"", "n", "m", "k", "E", "Ki", "Mi", "Ei", "e3", "E+3", "e-3", "e-10", "e03", "e", "ee3", "Kik", "k3", "Ki3", "e+", "e-", "m-3", "iK"} {
				texts = append(texts, sign+number+suffix)
			}
		}
	}
	seen := map[string]bool{}
	var answers []answer
	for _, text := range texts {
		if seen[text] {
			continue
		}
		seen[text] = true
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			answers = append(answers, answer{Text: text, Refused: true, Message: err.Error()})
			continue
		}
		stored, value := quantity.String(), quantity.DeepCopy()
		nanos := value.AsDec()
		nanos.SetScale(nanos.Scale() - 9)
		// The parser keeps the text it was given where it looks canonical; a sum has none to keep.
		sum := resource.Quantity{Format: quantity.Format}
		sum.Add(quantity)
		answers = append(answers, answer{Text: text, Printed: sum.String(), Stored: stored, Nanos: nanos.Round(nanos, 0, inf.RoundUp).String()})
	}
	return answers
}

var labelSets = []labels.Set{{}, {"x": "a"}, {"x": "b"}, {"x": ""}, {"x": "5"}, {"x": "a", "y": "b"}, {"y": "10"}, {"in": "notin"}, {"x": "-3"}}

// labelSelectors tries all sequences of a few tokens.
func labelSelectors() []answer {
	tokens := []string{"x", "a", "y", "in", "notin", "=", "==", "!=", "!", ">", "<", ",", "(", ")", "5", ""}
	var answers []answer
	seen := map[string]bool{}
	add := func(text string) {
		if seen[text] {
			return
		}
		seen[text] = true
		selector, err := labels.Parse(text)
		if err != nil {
			answers = append(answers, answer{Text: text, Refused: true})
			return
		}
		result := answer{Text: text, Printed: selector.String()}
		for index, set := range labelSets {
			if selector.Matches(set) {
				result.Matches = append(result.Matches, index)
			}
		}
		answers = append(answers, result)
	}
	for _, a := range tokens {
		for _, b := range tokens {
			for _, c := range tokens {
				add(strings.TrimSpace(strings.Join([]string{a, b, c}, " ")))
			}
		}
	}
	for _, text := range []string{"x in (a,b),y", "x in (b, a , b)", "x in ()", "x in (,)", "x in (a,)", "x in (,a)", "x in (a,,b)", "x notin (a,,)",
		"x in (a b)", "x in (a", "x in a)", "x=a,y=b", "x=a, ,y=b", "x=a,,y=b", "x=,y=b", "x,y", "!x,y", "!x=a", "x=a=b", "x=!a", "x!a", "x! =a", "!!x",
		"x>-3", "x>1.5", "x<10", "x>5,x<7", "a/b=c", "a/b/c=d", "A.b/c", "-a", "a-", "x=a-", "x in (a-)", "x=a_b.c-d", "x\t=\na", "in in (in)", "notin notin (notin)",
		"in=a", "in", "!in", "x in (in,notin)", "x>", "x<", "x in (5),x>4", strings.Repeat("a", 64), strings.Repeat("a", 63), "x=" + strings.Repeat("a", 64)} {
		add(text)
	}
	return answers
}

func fieldSelectors() []answer {
	var answers []answer
	for _, text := range []string{"", "x=a", "x==a", "x!=a", "x=a,y=b", "x=a,", ",x=a", "x", "x,y=a", "=a", "x=", "x!=", "x=a=b", "x=a\\=b", "x=a\\,b,y=c",
		"x=a\\\\", "x=a\\", "x=\\a", "x\\=y=a", "metadata.name=a b", " x = a ", "x=a||y=b", "x!a", "!x=a", "x=!a", "x=a!=b", "x===a", "spec.nodeName=", "x>a"} {
		selector, err := fields.ParseSelector(text)
		if err != nil {
			answers = append(answers, answer{Text: text, Refused: true})
			continue
		}
		answers = append(answers, answer{Text: text, Printed: selector.String()})
	}
	return answers
}

// strategic is a pair of objects, and the strategic merge patch between them.
type strategic struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Original   json.RawMessage `json:"original"`
	Modified   json.RawMessage `json:"modified"`
	Patch      json.RawMessage `json:"patch"`
}

var patched = map[string]any{
	"Deployment": appsv1.Deployment{}, "Pod": corev1.Pod{}, "PodDisruptionBudget": policyv1.PodDisruptionBudget{},
	"Service": corev1.Service{}, "ServiceAccount": corev1.ServiceAccount{},
}

// strategicPatches answers the pairs that the table has: they were drawn at random once.
func strategicPatches(directory string) []strategic {
	text, err := os.ReadFile(filepath.Join(directory, "strategic-patches.json"))
	if err != nil {
		log.Fatal(err)
	}
	var cases []strategic
	if err := json.Unmarshal(text, &cases); err != nil {
		log.Fatal(err)
	}
	for index, each := range cases {
		patch, err := strategicpatch.CreateTwoWayMergePatch(each.Original, each.Modified, patched[each.Kind])
		if err != nil {
			log.Fatal(err)
		}
		cases[index].Patch = patch
	}
	return cases
}
