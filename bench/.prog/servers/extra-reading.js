                                                       

/** A figure that the programs of one benchmark print besides what all print; less of it is better. */
export function extra(field        , unit        )          {
  const of = (sample        )         => {
    const value          = Object.entries(sample).find(([name]) => name === field)?.[1];
    return typeof value === 'number' ? value : Number.NaN;
  };
  return { unit, better: 'less', of };
}
