package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Opens has what a structural schema leaves open, and the types of Kubernetes.
// +kubebuilder:object:root=true
type Opens struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The fields.
	// +optional
	Spec OpensSpec `json:"spec,omitempty"`
}

// Loose keeps what it does not name.
type Loose struct {
	// A name.
	// +optional
	Name string `json:"name,omitempty"`
}

// Written is a text, whatever it is in Go.
// +kubebuilder:validation:Type=string
type Written struct{}

// OpensSpec is what is wanted.
type OpensSpec struct {
	// Any object.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Values *runtime.RawExtension `json:"values,omitempty"`

	// An object that keeps more than its fields.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Loose *Loose `json:"loose,omitempty"`

	// A Kubernetes object.
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Object *runtime.RawExtension `json:"object,omitempty"`

	// Any JSON.
	// +optional
	JSON *apiextensionsv1.JSON `json:"json,omitempty"`

	// No schema at all.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Anything runtime.RawExtension `json:"anything,omitempty"`

	// A port by number or name.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`

	// How much.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`

	// How much of each.
	// +optional
	Limits map[string]resource.Quantity `json:"limits,omitempty"`

	// When.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// When exactly.
	// +optional
	Exactly *metav1.MicroTime `json:"exactly,omitempty"`

	// How long.
	// +optional
	Wait *metav1.Duration `json:"wait,omitempty"`

	// How long, checked.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=duration
	// +optional
	Checked *metav1.Duration `json:"checked,omitempty"`

	// A type that is written as another.
	// +optional
	Written *Written `json:"written,omitempty"`

	// An int or a string by its marker.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%?$`
	// +kubebuilder:validation:MaxLength=8
	// +optional
	Share *intstr.IntOrString `json:"share,omitempty"`

	// What it applies to.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// What is made.
	// +optional
	Template *Template `json:"template,omitempty"`
}

// Template has metadata of its own.
type Template struct {
	// Labels and annotations of what is made.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// A color.
	// +optional
	Color string `json:"color,omitempty"`
}
