# Functions of sweep and sweep_passes: what changes without a pass or with another constant. They use
# $bin, the folder of firn_snapshot and firn_bench, $folder for files, and $rounds of a run of firn_bench.
export FIRN_NO_CACHE=1 FIRN_RATES=reference
unset FIRN_SKIP FIRN_STOP_AFTER

# snapshot FOLDER [VARIABLE=VALUE]: the kernels of all cases of firn_bench.
snapshot() {
    local to=$folder/$1
    shift
    rm -rf "$to"
    env "$@" "$bin/firn_snapshot" "$to" --programs 0 > "$folder/log" 2>&1
}
# changed FOLDER CLASS: the cases whose kernels differ from those in the folder `as_it_is`.
changed() {
    local file
    for file in "$folder/as_it_is/$2"/*.comp; do
        cmp -s "$file" "$folder/$1/$2/$(basename "$file")" || basename "$file" .comp
    done
}
# milliseconds CASE [VARIABLE=VALUE]: of Firn's side; empty where it does not run.
milliseconds() {
    local case=$1
    shift
    rm -f "$folder/csv"
    env "$@" "$bin/firn_bench" --only "$case" --rounds "$rounds" --csv "$folder/csv" > "$folder/log" 2>&1 || true
    [[ -e $folder/csv ]] && awk -F, -v name="$case" '$1 == name {print $2}' "$folder/csv"
}
# ratio CASE VARIABLE=VALUE: the time with it over the time without, of the means of the medians of two runs
# each, in turns.
ratio() {
    local as_it_is=() with=() run
    for run in 1 2; do
        as_it_is+=("$(milliseconds "$1")")
        with+=("$(milliseconds "$1" "$2")")
    done
    printf '%s %s\n%s %s\n' "${as_it_is[0]:-0}" "${with[0]:-0}" "${as_it_is[1]:-0}" "${with[1]:-0}" |
        awk '{as_it_is += $1; with += $2; missing += $1 <= 0 || $2 <= 0}
             END {if (!missing) printf "%.3f\n", with / as_it_is}'
}
# ratios COUNT VARIABLE=VALUE CASE...: the median and the largest ratio of up to COUNT of the cases, spread evenly
# over the list, and the case of the largest.
ratios() {
    local most=$1 set=$2 cases=("${@:3}") k taken r
    taken=$((${#cases[@]} < most ? ${#cases[@]} : most))
    for ((k = 0; k < taken; ++k)); do
        local case=${cases[$((k * ${#cases[@]} / taken))]}
        r=$(ratio "$case" "$set")
        [[ -n $r ]] && echo "$r $case"
    done | sort -n | awk '{r[NR] = $1; c[NR] = $2} END {if (NR) printf "%s, %s (%s)", r[int((NR + 1) / 2)], r[NR], c[NR]}'
}
