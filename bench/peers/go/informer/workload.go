package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Workload is a custom resource of the size and form of a pod, with what controller-gen would write for it.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              corev1.PodSpec   `json:"spec,omitempty"`
	Status            corev1.PodStatus `json:"status,omitempty"`
}

// WorkloadList is a list of them.
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}

func (in *Workload) deepCopyInto(out *Workload) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
	in.Status.DeepCopyInto(&out.Status)
}

// DeepCopyObject implements runtime.Object.
func (in *Workload) DeepCopyObject() runtime.Object {
	out := &Workload{}
	in.deepCopyInto(out)
	return out
}

// DeepCopyObject implements runtime.Object.
func (in *WorkloadList) DeepCopyObject() runtime.Object {
	out := &WorkloadList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Workload, len(in.Items))
	for i := range in.Items {
		in.Items[i].deepCopyInto(&out.Items[i])
	}
	return out
}

// newWorkloadInformer is what informer-gen would write: JSON decoded into structs by a scheme's codecs.
func newWorkloadInformer(config *rest.Config) cache.SharedIndexInformer {
	version := schema.GroupVersion{Group: "bench.kctl.dev", Version: "v1"}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(version, &Workload{}, &WorkloadList{})
	metav1.AddToGroupVersion(scheme, version)
	config.GroupVersion = &version
	config.APIPath = "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		panic(err)
	}
	lw := cache.NewListWatchFromClient(client, "workloads", metav1.NamespaceAll, fields.Everything())
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	return cache.NewSharedIndexInformer(lw, &Workload{}, 0, indexers)
}
